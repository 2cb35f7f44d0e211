package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// ropeFile is what of config.json sets the rotation of queries and keys. Names and rules: transformers
// modeling_rope_utils.py, which calls rope_scaling rope_parameters since version 5.
type ropeFile struct {
	Theta   json.RawMessage `json:"rope_theta"`
	Scaling json.RawMessage `json:"rope_scaling"`
	Params  json.RawMessage `json:"rope_parameters"`
	Partial *float64        `json:"partial_rotary_factor"`
	Pct     *float64        `json:"rotary_pct"`
	Rotary  int             `json:"rotary_dim"`
	Max     float64         `json:"max_position_embeddings"`
	Origin  float64         `json:"original_max_position_embeddings"`
	Text    *ropeFile       `json:"text_config"`
}

type ropeParams struct {
	Type    string          `json:"rope_type"`
	Old     string          `json:"type"`
	Theta   json.RawMessage `json:"rope_theta"`
	Factor  *float64        `json:"factor"`
	Low     *float64        `json:"low_freq_factor"`
	High    *float64        `json:"high_freq_factor"`
	Origin  *float64        `json:"original_max_position_embeddings"`
	Short   []float64       `json:"short_factor"`
	Long    []float64       `json:"long_factor"`
	Section []int           `json:"mrope_section"`
	Partial *float64        `json:"partial_rotary_factor"`
}

// scaled lists the types of scaling and whether they need a factor.
var scaled = map[string]bool{
	"default": false, "linear": true, "dynamic": true, "ntk": true, "yarn": true, "deepseek_yarn": true, "llama3": true,
	"longrope": false, "su": false, "mrope": false, "proportional": false, "": false,
}

// rope holds the settings of the rotation against each other, against the head's size, and against stored frequencies.
func (p *patient) rope() {
	var f ropeFile
	if p.config == nil || json.Unmarshal(quant.PlainJSON(p.rawConfig), &f) != nil {
		return
	}
	if f.Text != nil {
		f = *f.Text
	}
	wrong := func(format string, args ...any) {
		p.add(Certain, KindRope, nil, "config.json: "+format+"; take it from the model's own config.json", args...)
	}
	theta := p.theta(f.Theta, "rope_theta", wrong)
	dim := p.config.PlainDim
	if p.config.RopeDim > 0 {
		dim = p.config.RopeDim
	}
	for _, part := range []*float64{f.Partial, f.Pct} {
		if part != nil && (!(*part > 0) || *part > 1) {
			wrong("the share of a head that is rotated is %g; it is in (0, 1]", *part)
		} else if part != nil && p.config.RopeDim == 0 {
			dim = int(float64(p.config.PlainDim) * *part)
		}
	}
	if f.Rotary != 0 {
		if f.Rotary < 0 || f.Rotary%2 != 0 || p.config.PlainDim > 0 && f.Rotary > p.config.PlainDim {
			wrong("rotary_dim is %d, and a head has %d channels; it is even and at most that", f.Rotary, p.config.PlainDim)
		}
		dim = f.Rotary
	}
	if dim%2 != 0 {
		wrong("%d channels of a head are rotated, in pairs, so that the number is even", dim)
	}
	for key, raw := range map[string]json.RawMessage{"rope_scaling": f.Scaling, "rope_parameters": f.Params} {
		for _, one := range ropeSets(raw) {
			if t := p.theta(one.Theta, key+".rope_theta", wrong); t > 0 && theta == 0 {
				theta = t
			}
			one.check(key, dim, f, wrong, func(format string, args ...any) {
				p.add(Look, KindRope, nil, "config.json: "+format, args...)
			})
		}
	}
	p.frequencies(theta, f, wrong)
}

// theta reads a base; 0 is none.
func (p *patient) theta(raw json.RawMessage, key string, wrong func(string, ...any)) float64 {
	if len(raw) == 0 || string(raw) == "null" {
		return 0
	}
	var v float64
	if json.Unmarshal(raw, &v) != nil {
		return 0 // one for each kind of layer
	}
	if !(v > 1) {
		wrong("%s is %g; the base of the frequencies is above 1", key, v)
		return 0
	}
	return v
}

// ropeSets reads one set of parameters, or one for each kind of layer.
func ropeSets(raw json.RawMessage) []ropeParams {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	nested := len(fields) > 0
	for _, v := range fields {
		nested = nested && strings.HasPrefix(strings.TrimSpace(string(v)), "{")
	}
	if !nested {
		fields = map[string]json.RawMessage{"": raw}
	}
	var out []ropeParams
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var one ropeParams
		if json.Unmarshal(fields[name], &one) == nil {
			out = append(out, one)
		}
	}
	return out
}

func (r ropeParams) check(key string, dim int, f ropeFile, wrong, look func(string, ...any)) {
	kind := r.Type
	if kind == "" {
		kind = r.Old
	}
	needs, known := scaled[kind]
	if !known {
		look("%s is of type %q, which is not known here and was not checked", key, kind)
		return
	}
	switch {
	case needs && r.Factor == nil:
		wrong("%s of type %q has no factor", key, kind)
	case r.Factor != nil && !(*r.Factor >= 1):
		wrong("%s has a factor of %g; positions are stretched by 1 or more", key, *r.Factor)
	}
	if kind == "llama3" {
		if r.Low == nil || r.High == nil || r.Origin == nil {
			wrong("%s of type llama3 lacks low_freq_factor, high_freq_factor or original_max_position_embeddings", key)
		} else if !(*r.High > *r.Low) {
			wrong("%s has low_freq_factor %g and high_freq_factor %g; the second is larger", key, *r.Low, *r.High)
		}
	}
	if r.Partial != nil && *r.Partial > 0 && *r.Partial <= 1 && f.Partial == nil {
		dim = int(float64(dim) * *r.Partial)
	}
	if kind == "longrope" || kind == "su" {
		for name, list := range map[string][]float64{"short_factor": r.Short, "long_factor": r.Long} {
			if len(list) == 0 || dim > 0 && len(list) != dim/2 || !(slices.Min(list) > 0) {
				wrong("%s.%s has %d entries; it has one above 0 for each of the %d pairs that are rotated", key, name, len(list),
					dim/2)
			}
		}
	}
	if n := sum(r.Section); len(r.Section) > 0 && dim > 0 && n != dim/2 {
		wrong("%s.mrope_section %v adds up to %d; a head rotates %d pairs", key, r.Section, n, dim/2)
	}
	if r.Origin != nil && !(*r.Origin > 0) {
		wrong("%s.original_max_position_embeddings is %g", key, *r.Origin)
	}
}

func sum(v []int) int {
	n := 0
	for _, x := range v {
		n += x
	}
	return n
}

// frequencies holds stored inverse frequencies, which old checkpoints have, against the base.
func (p *patient) frequencies(theta float64, f ropeFile, wrong func(string, ...any)) {
	plain := len(ropeSets(f.Scaling))+len(ropeSets(f.Params)) == 0
	for _, t := range p.tensors {
		if !strings.HasSuffix(t.stored, "rotary_emb.inv_freq") || theta == 0 || !plain {
			continue
		}
		v := t.values()
		n := len(v)
		if n < 2 {
			continue
		}
		got := math.Pow(v[0]/v[n-1], float64(n)/float64(n-1))
		if math.Abs(got/theta-1) > 0.05 { // fp16 and bf16 round
			wrong("rope_theta is %g, and %s is of base %s", theta, t.stored, fmt.Sprintf("%.4g", got))
			return
		}
	}
}
