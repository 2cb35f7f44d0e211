package oracle

// Ops is what a V4-shaped model is composed from. Reference fills it with the oracles; a fault, a
// contract or a foreign kernel replaces single fields. The fields have the contract of the function
// of the same name in this package.
type Ops struct {
	Linear            func(x, w Mat) Mat
	RMSNorm           func(x Mat, weight []float64, width int, eps float64) Mat
	RotateInterleaved func(x Mat, width int, positions []int, rope Rope, inverse bool) Mat

	HCMix   func(v, fn Mat, normEps float64) Mat
	HCSplit func(mixes Mat, scale, base []float64, cfg HCConfig) (pre, post, comb Mat)
	HCPre   func(x, pre Mat) Mat
	HCPost  func(f, post, comb, x Mat) Mat
	HCHead  func(mixes Mat, scale float64, base []float64, eps float64) Mat
	// HCCollapse is HCMix, HCSplit and HCPre in one launch, as kernels fuse them; nil composes them.
	HCCollapse func(x, fn Mat, scale, base []float64, cfg HCConfig) (y, post, comb Mat)

	Compress      func(a, g, prevA, prevG Mat, p Pooling) Mat
	IndexerLogits func(q, k, w Mat, visible []int) Mat
	SelectTopK    func(scores []float64, visible, k int, tie TieRule) ([]int, error)
	// SelectRows is SelectTopK for all rows of scores [T, S] in one launch; nil takes them one by one.
	SelectRows func(scores Mat, visible []int, k int, tie TieRule) ([][]int, error)
	Attention  func(in AttentionInput) Mat

	GroupedProjection func(o, woA Mat, groups int) Mat

	Route     func(logits Mat, bias []float64, k int, scaling float64) (Routing, error)
	HashRoute func(logits Mat, table [][]int, scaling float64) (Routing, error)
	SwiGLU    func(x Mat, e ExpertWeights, limit float64) Mat
	// MixExperts is the sum over routed and shared experts in one launch; nil composes it from SwiGLU.
	MixExperts func(x Mat, r Routing, experts []ExpertWeights, shared ExpertWeights, limit float64) Mat

	// Carry is what a sequence that goes on finds in its memory: the part by name, and its rows. An engine hands them on
	// as they are, which nil does too.
	Carry func(part Carried, rows Mat) Mat
}

// Carried names a part of a sequence's memory.
type Carried string

// The parts that a layer with compressed rows carries from one call to the next.
const (
	CarriedRemainder Carried = "remainder" // values or gates of the unfinished block
	CarriedOverlap   Carried = "overlap"   // values or gates of the last complete block
	CarriedRows      Carried = "rows"      // compressed rows
	CarriedIndex     Carried = "index"     // index keys
)

// Reference is the model of exact operators.
func Reference() Ops {
	return Ops{
		Linear:            Linear,
		RMSNorm:           RMSNorm,
		RotateInterleaved: RotateInterleaved,
		HCMix:             HCMix,
		HCSplit:           HCSplit,
		HCPre:             HCPre,
		HCPost:            HCPost,
		HCHead:            HCHead,
		Compress:          Compress,
		IndexerLogits:     IndexerLogits,
		SelectTopK:        SelectTopK,
		Attention:         Attention,
		GroupedProjection: GroupedProjection,
		Route:             Route,
		HashRoute:         HashRoute,
		SwiGLU:            SwiGLU,
	}
}
