// Package route is the suite of the experts' router: the learned gate (gate.go), the gate by token id (hash.go) and the
// sum over experts (combine.go).
//
// Claimed: the chosen experts are the best within what fp32 evaluation of the scores can tell, groups included; weights
// follow from the unbiased scores of the experts that were chosen, each factor applied once; the sum over experts lies
// within fp32 evaluation in any order. Not claimed: the order of the experts within a token, the product that gives the
// logits, and the experts themselves.
package route
