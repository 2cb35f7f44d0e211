package faults

import "github.com/assay-suite/assay/oracle"

var routing = []Fault{
	{
		Name:   "routed-scaling-twice",
		Effect: "the routed scaling factor is applied twice",
		Origin: "vllm-project/vllm#45037",
		Row:    "R1",
		Apply:  swapScaling(func(s float64) float64 { return s * s }),
	},
	{
		Name:   "routed-scaling-missing",
		Effect: "the routed scaling factor is not applied",
		Origin: "scaling nested in the renormalise branch: sgl-project/sglang#31449",
		Row:    "R3",
		Apply:  swapScaling(func(float64) float64 { return 1 }),
	},
}

func swapScaling(change func(float64) float64) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		route, hash := ops.Route, ops.HashRoute
		ops.Route = func(logits oracle.Mat, bias []float64, k int, scaling float64) (oracle.Routing, error) {
			return route(logits, bias, k, change(scaling))
		}
		ops.HashRoute = func(logits oracle.Mat, table [][]int, scaling float64) (oracle.Routing, error) {
			return hash(logits, table, change(scaling))
		}
		return ops
	}
}
