package sparse

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// mergeOptions are how a kernel merges states; what mergeFaults says is wrong.
type mergeOptions struct {
	stepwise bool // one state after the other, as two-state merges do, in place of all at once
	reverse  bool
	inBase2  bool // weights by exp2
	wide     bool // float64
	fused    bool
	late     bool // divides at the end in place of scaling the weights
	bf16     bool // the states' outputs are summed in bf16: a fault

	mergeFaults
}

// mergeFaults are what a faulty kernel does otherwise.
type mergeFaults struct {
	twoAsNatural bool // base-2 log-sum-exps are taken for natural ones
	naturalAsTwo bool
	othersOnly   bool // the above, of all states but the first
	emptyNaN     bool // -inf - -inf
	readsEmpty   bool // the output of an empty state is multiplied by 0
	plusIsReal   bool // +inf is a log-sum-exp like any other
	noTop        bool // the maximum is not taken out
	allStates    bool // num_states is not looked at
	sinkEach     bool // the sink joins with every state
	sinkInLSE    bool
	noSink       bool
	swapped      bool // each output has the other state's weight
	outAsIn      bool // merged_lse stays in the base of the states
	mean         bool // outputs are averaged without weights
	emptySign    bool
	lastOnly     bool // merged_lse is the larger one of the states
}

func (o mergeOptions) r(x float64) float64 {
	if o.wide {
		return x
	}
	return float64(float32(x))
}

// exp and log are those of the base that the kernel works in.
func (o mergeOptions) exp(x float64) float64 {
	if o.inBase2 {
		return o.r(math.Exp2(x))
	}
	return o.r(math.Exp(x))
}

func (o mergeOptions) log(x float64) float64 {
	if o.inBase2 {
		return o.r(math.Log2(x))
	}
	return o.r(math.Log(x))
}

// operand turns a log-sum-exp to the call's base into one of the kernel's; state i is asked for.
func (o mergeOptions) operand(l float64, base string, i int) float64 {
	if math.IsInf(l, 1) && !o.plusIsReal {
		l = math.Inf(-1)
	}
	mixed := !o.othersOnly || i > 0
	two := base == wordTwo
	switch {
	case two && o.twoAsNatural && mixed:
		two = false
	case !two && o.naturalAsTwo && mixed:
		two = true
	}
	switch {
	case two && !o.inBase2:
		return o.r(l * math.Ln2)
	case !two && o.inBase2:
		return o.r(l * math.Log2E)
	}
	return l
}

// row merges the states of one query and head: log-sum-exps in the kernel's base, outputs of d channels.
func (o mergeOptions) row(lse []float64, outs [][]float64, sink float64, out []float64) (total float64) {
	top := math.Inf(-1)
	for _, l := range lse {
		top = math.Max(top, l)
	}
	if math.IsInf(top, -1) && !o.emptyNaN {
		for c := range out {
			out[c] = 0
		}
		return top
	}
	if o.noTop {
		top = 0
	}
	w := make([]float64, len(lse))
	sum := 0.0
	for i, l := range lse {
		w[i] = o.exp(o.r(l - top))
		sum = o.r(sum + w[i])
	}
	denominator := sum
	if !o.noSink {
		joins := 1
		if o.sinkEach {
			joins = len(lse)
		}
		for range joins {
			denominator = o.r(denominator + o.exp(o.r(sink-top)))
		}
	}
	if o.swapped && len(w) > 1 {
		w[0], w[1] = w[1], w[0]
	}
	for c := range out {
		acc := 0.0
		for i, v := range outs {
			p := w[i]
			if !o.late {
				p = o.r(w[i] / denominator)
			}
			if o.mean {
				p = o.r(1 / float64(len(outs)))
			}
			if math.IsInf(lse[i], -1) && !o.readsEmpty {
				continue
			}
			if o.fused || o.wide {
				acc = o.r(acc + p*v[c])
			} else {
				acc = float64(float32(acc) + float32(float32(p)*float32(v[c])))
			}
			if o.bf16 {
				acc = float64(toBF16(float32(acc)))
			}
		}
		if o.late && !o.mean {
			acc = o.r(acc / denominator)
		}
		out[c] = acc
	}
	if o.sinkInLSE {
		sum = denominator
	}
	if o.lastOnly {
		return top
	}
	return o.r(top + o.log(sum))
}

// steps merges one state after the other: the pair's output and log-sum-exp are the next pair's first state.
func (o mergeOptions) steps(lse []float64, outs [][]float64, sink float64, out []float64) float64 {
	acc, l := append([]float64{}, outs[0]...), lse[0]
	none := math.Inf(-1)
	if math.IsInf(l, -1) {
		acc = make([]float64, len(out))
	}
	for i := 1; i < len(lse); i++ {
		pair := make([]float64, len(out))
		l = o.row([]float64{l, lse[i]}, [][]float64{acc, outs[i]}, none, pair)
		acc = pair
	}
	o.row([]float64{l}, [][]float64{acc}, sink, out)
	return l
}

// store turns the kernel's log-sum-exp into what the call wants.
func (o mergeOptions) store(a bench.Args, l float64) float64 {
	if math.IsInf(l, -1) {
		if (a.Word(emptyWord) == emptyPlus) != o.emptySign {
			return math.Inf(1)
		}
		return l
	}
	two := a.Word(outBase) == wordTwo
	if o.outAsIn {
		two = a.Word(baseWord) == wordTwo
	}
	switch {
	case two && !o.inBase2:
		return o.r(l * math.Log2E)
	case !two && o.inBase2:
		return o.r(l * math.Ln2)
	}
	return l
}

// merge is one query and head of either operator.
func (o mergeOptions) merge(a bench.Args, lse []float64, outs [][]float64, sink float64, out []float64) float64 {
	l := make([]float64, len(lse))
	for i, v := range lse {
		l[i] = o.operand(v, a.Word(baseWord), i)
	}
	if o.inBase2 {
		sink = o.r(sink * math.Log2E)
	}
	if o.reverse {
		outs = slices.Clone(outs)
		slices.Reverse(outs)
		slices.Reverse(l)
	}
	if len(l) == 0 {
		return o.store(a, o.row(nil, nil, sink, out))
	}
	if o.stepwise {
		return o.store(a, o.steps(l, outs, sink, out))
	}
	return o.store(a, o.row(l, outs, sink, out))
}

// state is merge_state under the options.
func (o mergeOptions) state(a bench.Args) (bench.Results, error) {
	prefix, suffix := a.In("prefix_o"), a.In("suffix_o")
	pl, sl := a.In("prefix_lse").Data, a.In("suffix_lse").Data
	out, lse, d := a.Fresh("merged_o"), make([]float64, len(pl)), prefix.Dim(2)
	for n := range pl {
		at := func(t bench.Tensor) []float64 { return t.Data[n*d : (n+1)*d] }
		lse[n] = o.merge(a, []float64{pl[n], sl[n]}, [][]float64{at(prefix), at(suffix)}, math.Inf(-1),
			at(bench.Tensor{Data: out}))
	}
	return bench.Results{"merged_o": out, "merged_lse": lse}, nil
}

// states is merge_states under the options.
func (o mergeOptions) states(a bench.Args) (bench.Results, error) {
	in, lses := a.In("o"), a.In("lse")
	t, h, d := in.Dim(1), in.Dim(2), in.Dim(3)
	out, lse := a.Fresh("merged_o"), make([]float64, t*h)
	for n := range lse {
		states := in.Dim(0)
		if a.Has("num_states") && !o.allStates {
			states = a.In("num_states").Ints()[n/h]
		}
		var l []float64
		var outs [][]float64
		for i := range states {
			l, outs = append(l, lses.Row(i)[n]), append(outs, in.Row(i)[n*d:(n+1)*d])
		}
		sink := math.Inf(-1)
		if a.Has("attn_sink") {
			sink = a.In("attn_sink").Data[n%h]
		}
		lse[n] = o.merge(a, l, outs, sink, out[n*d:(n+1)*d])
	}
	return bench.Results{"merged_o": out, "merged_lse": lse}, nil
}
