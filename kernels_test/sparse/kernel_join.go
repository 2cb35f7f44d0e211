package sparse

import "math"

// attentionFaults are what a faulty kernel does otherwise; the zero value is correct.
type attentionFaults struct {
	leadingTile    bool // a tile of nothing but masked lanes gives exp(-inf - -inf)
	allLanes       bool // topk_length is ignored for more than 64 queries
	staleLSE       bool // partial log-sum-exps are stored only where the caller asks for one
	unsplitLSE     bool // the log-sum-exp of rows in one part lacks the maximum
	lengthOff      int  // lists end that many entries later
	mainLength     bool // the extra list has the main list's length
	mainPageSize   bool
	identityTable  bool
	queryIsRequest bool
	minusOneIsRow  bool
	tileTail       bool // entries of a last tile of 16 that is not full are left out
	maskByProduct  bool // rows of masked lanes are read and multiplied by 0
	noRounding     bool // rows do not go through fp8: the first V4 release
	rounding       roundingFaults
	scaleOfNext    bool
	scalesInRow    bool
	noScale        bool
	fnuz           bool
	noExtra        bool
	once           bool // a row listed twice counts once
	noScaleFactor  bool
	noLog2         bool // base-2 exponentials of natural scores
	noSink         bool
	sinkScaled     bool
	sinkPerSplit   bool
	sinkInLSE      bool
	emptyNaN       bool
	emptySign      bool
	emptySplit     bool // a part without rows gives NaN
	splitTail      bool // entries behind the last full part are left out
	otherBase      bool
	topBase2       bool
	joinNatural    bool // partial log-sum-exps to the base 2 are joined as natural ones
	lastValues     bool // the last d_v channels are the value
	bf16Scores     bool
	bf16Acc        bool
}

// join merges parts by their log-sum-exps, as a combine kernel does that sees normalised outputs.
func (o attentionOptions) join(g gathered, parts []state, h int) state {
	top := math.Inf(-1)
	lse := make([]float64, len(parts))
	for i, s := range parts {
		if lse[i] = s.top; !math.IsInf(s.top, -1) {
			lse[i] = o.r(s.top + o.log(s.sum))
		} else if o.emptySplit {
			lse[i] = math.NaN()
		}
		if o.sinkPerSplit && g.sink != nil && !math.IsInf(s.top, -1) {
			lse[i] = o.r(s.top + o.log(o.r(s.sum+o.exp(o.r(o.unit(float64(g.sink[h]))-s.top)))))
		}
		if o.joinNatural {
			lse[i] = o.r(lse[i] * math.Log2E)
		}
		if o.staleLSE && !g.wantsLSE {
			lse[i] = 0
		}
		top = math.Max(top, lse[i])
	}
	out := state{top: top, acc: make([]float64, g.dv)}
	if math.IsInf(top, -1) {
		return out
	}
	for i, s := range parts {
		w := o.exp(o.r(lse[i] - top))
		out.sum = o.r(out.sum + w)
		if s.sum == 0 {
			continue
		}
		if w = o.r(w / s.sum); o.sinkPerSplit && g.sink != nil {
			w = o.r(o.exp(o.r(lse[i]-top)) / o.r(s.sum+o.exp(o.r(o.unit(float64(g.sink[h]))-s.top))))
		}
		for c := range out.acc {
			out.acc[c] = o.r(out.acc[c] + o.r(w*s.acc[c]))
		}
	}
	return out
}
