package precision

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// Kind says what a row is about.
type Kind string

// The kinds.
const (
	Mix         Kind = "hc"          // hc_attn_fn, hc_ffn_fn, hc_head_fn
	Gate        Kind = "gate"        // ffn.gate.weight
	Bias        Kind = "router-bias" // ffn.gate.bias
	Index       Kind = "indexer"     // wq_b, weights_proj, compressor.wkv and wgate, wk
	Keys        Kind = "index-keys"  // cached index keys in a storage format
	Compounding Kind = "compounding" // all layers' hc_*_fn together
	Head        Kind = "head"        // rows of the output head
	Norm        Kind = "norm"        // gains, rounded without scales
	Base        Kind = "base"        // dequantised values against those of the base checkpoint
)

// Row is one tensor on one path.
type Row struct {
	Tensor string `json:"tensor"` // in the original release's spelling; a class with * for Base
	Kind   Kind   `json:"kind"`
	Path   string `json:"path"`
	Layer  int    `json:"layer"` // -1 outside layers

	// Numbers holds what was measured. Without unit where none is named:
	//
	//	rel-l2          ||path − exact|| / ||exact|| of the products
	//	rho             largest error in bounds of the declared contract; above 1 is a breach
	//	rho-fp32        largest error in martingale bounds of fp32 accumulation (risk 1e-6)
	//	max-abs-pre, max-abs-post, max-abs-comb   change of the gates, after Sinkhorn for comb
	//	flips           share of tokens whose set of experts changes
	//	max-abs-weight  largest change of an expert's score
	//	jaccard-K, jaccard-min-K   of the selections at top-k K, mean and worst over queries
	//	lost-mass-K     mass of keys that the exact selection has and the path's has not, mean over queries
	//	needle-rank-exact, needle-rank, needle-lost-K   worst rank over queries, and the share that loses it
	//	local, free-1, free-last, slope, gain, coherence   see package numerics/layers
	//	worst-rel-l2, median-rel-l2, tensors    of a class against the base
	Numbers suite.Numbers `json:"numbers"`

	// Verdict says why the path breaks the contract that it declares; empty where it does not.
	Verdict string `json:"verdict,omitempty"`
	// Job and Of name the step of Measure that made the row and the number of its rows, so that a run can be continued.
	Job string `json:"job"`
	Of  int    `json:"of"`
	// Fingerprint and States say what was measured on what; rows of anything else are not taken over.
	Fingerprint string `json:"fingerprint"`
	States      string `json:"states"`
	// Note says what the numbers rest on where that is not obvious.
	Note string `json:"note,omitempty"`
}

// Broken reports whether the path leaves the bound of its own contract.
func (r Row) Broken() bool { return r.Verdict != "" }

// Harm is what rows are ordered by, 0 to 1 for rows of one meaning: the share of lost selections (1 − the lowest mean
// Jaccard index) or of flipped routings, the change of a gate (of at most 2), the relative error at the last depth, the
// relative error against the base; the relative error of the product where a row has no effect. NaN counts as the
// worst.
func (r Row) Harm() float64 {
	n := r.Numbers
	harm, has := 0.0, false
	see := func(v float64, ok bool) {
		if !ok {
			return
		}
		has = true
		if harm = math.Max(harm, v); math.IsNaN(harm) { // math.Max keeps a NaN
			harm = math.Inf(1)
		}
	}
	for name, v := range n {
		switch {
		case strings.HasPrefix(name, "jaccard-") && !strings.HasPrefix(name, "jaccard-min-"):
			see(1-v, true)
		case strings.HasPrefix(name, "lost-mass-"), strings.HasPrefix(name, "needle-lost-"):
			see(v, true)
		}
	}
	for _, name := range []string{"flips", "max-abs-comb", "max-abs-pre", "max-abs-post", "free-last", "worst-rel-l2"} {
		v, ok := n[name]
		if strings.HasPrefix(name, "max-abs-") {
			v /= 2
		}
		see(v, ok)
	}
	if !has {
		v, ok := n["rel-l2"]
		see(v, ok)
	}
	return harm
}

// Case is the row's ID in ledgers and goldens of a checkpoint, a slug path; checkpoint names it where one file holds
// several.
func (r Row) Case(checkpoint string) string {
	return casePrefix(checkpoint) + slug(r.Tensor) + "/" + slug(r.Path)
}

func casePrefix(checkpoint string) string {
	if checkpoint == "" {
		return "precision/"
	}
	return "precision/" + slug(checkpoint) + "/"
}

var notSlug = regexp.MustCompile(`[^a-z0-9.-]+`)

func slug(s string) string {
	s = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(strings.ReplaceAll(s, "*", "n")), "-"), ".-")
	if s == "" {
		return "unnamed"
	}
	return s
}

// sortWorstFirst orders broken rows first, then by harm, then by error; ties by name, so that the order is the same
// every time.
func sortWorstFirst(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Broken() != b.Broken() {
			if a.Broken() {
				return -1
			}
			return 1
		}
		return cmp.Or(
			cmp.Compare(b.Harm(), a.Harm()), cmp.Compare(b.Numbers["rel-l2"], a.Numbers["rel-l2"]),
			cmp.Compare(a.Tensor, b.Tensor), cmp.Compare(a.Path, b.Path),
		)
	})
}

var layerNumber = regexp.MustCompile(`^(?:layers|mtp)\.(\d+)\.`)

// layerOf is the layer of a canonical name, -1 outside layers.
func layerOf(canon string) int {
	m := layerNumber.FindStringSubmatch(canon)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}
