package precision

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/oracle"
)

// settings is what of config.json changes the measurement and cannot be told from shapes.
type settings struct {
	family             string
	hc                 oracle.HCConfig // Streams comes from the tensor
	normEps            float64
	indexTopK          int
	perToken           int
	groups, groupsKept int // 0: experts are not grouped
	sigmoid            bool
	rope               oracle.Rope // of compressed layers, without YaRN
}

type settingsFile struct {
	HCIterations  int     `json:"hc_sinkhorn_iters"`
	HCEps         float64 `json:"hc_eps"`
	NormEps       float64 `json:"rms_norm_eps"`
	IndexTopK     int     `json:"index_topk"`
	PerToken      int     `json:"num_experts_per_tok"`
	Groups        int     `json:"n_group"`
	GroupsKept    int     `json:"topk_group"`
	Scoring       string  `json:"scoring_func"`
	RopeDim       int     `json:"qk_rope_head_dim"`
	CompressTheta float64 `json:"compress_rope_theta"`
	Theta         float64 `json:"rope_theta"`
}

// readSettings takes config.json, or the published constants of V4-Flash (config.json of the release) where raw is nil
// or lacks a key; defaulted says so.
func readSettings(raw []byte) (s settings, defaulted []string, err error) {
	var f settingsFile
	if raw != nil {
		c, err := checkpoint.ParseConfig(raw)
		if err != nil {
			return s, nil, fmt.Errorf("precision: %w", err)
		}
		s.family = c.Family
		if err := json.Unmarshal(quant.PlainJSON(raw), &f); err != nil {
			return s, nil, fmt.Errorf("precision: config.json is not a JSON object of a model's settings: %w", err)
		}
	}
	defInt := func(name string, v *int, d int) {
		if *v <= 0 {
			*v = d
			defaulted = append(defaulted, fmt.Sprintf("%s %d", name, d))
		}
	}
	defFloat := func(name string, v *float64, d float64) {
		if !(*v > 0) || math.IsInf(*v, 0) {
			*v = d
			defaulted = append(defaulted, fmt.Sprintf("%s %g", name, d))
		}
	}
	defFloat("rms_norm_eps", &f.NormEps, 1e-6)
	defInt("num_experts_per_tok", &f.PerToken, 6)
	defInt("index_topk", &f.IndexTopK, 512)
	defInt("qk_rope_head_dim", &f.RopeDim, 64)
	if s.family != checkpoint.FamilyV32 {
		defInt("hc_sinkhorn_iters", &f.HCIterations, 20)
		defFloat("hc_eps", &f.HCEps, 1e-6)
		defFloat("compress_rope_theta", &f.CompressTheta, 160000)
	}
	s.hc = oracle.HCConfig{Iterations: f.HCIterations, Eps: f.HCEps, NormEps: f.NormEps}
	s.normEps, s.indexTopK, s.perToken = f.NormEps, f.IndexTopK, f.PerToken
	s.rope = oracle.Rope{Base: f.CompressTheta, Dims: f.RopeDim}
	if f.Scoring == "sigmoid" || s.family == checkpoint.FamilyV32 {
		s.sigmoid = true
		if f.Groups > 1 && f.GroupsKept > 0 && f.GroupsKept < f.Groups {
			s.groups, s.groupsKept = f.Groups, f.GroupsKept
		}
	}
	return s, defaulted, nil
}

// streams is n for a matrix of (2+n)·n mixes, n for the head's n; 0 for another number of rows.
func streams(rows, cols int, head bool) int {
	n := int(math.Round(math.Sqrt(float64(rows)+1))) - 1
	if head {
		n = rows
	}
	if n < 1 || !head && n*(n+2) != rows || cols%n != 0 {
		return 0
	}
	return n
}
