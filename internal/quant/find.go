package quant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/safetensors"
)

// Fault is why a weight's tensors do not make a weight.
type Fault struct {
	Kind   FaultKind
	Tensor string // as stored; of a missing part the name that it would have
	Part   Part
	Text   string // a sentence
}

// FaultKind sorts faults.
type FaultKind int

// The kinds of faults.
const (
	Missing  FaultKind = iota // a part is not there
	BadShape                  // a part has another shape than the weight calls for
	BadDType                  // a part has a dtype that no writer of the scheme uses
	Lies                      // the checkpoint contradicts what it declares
)

// finder assembles one weight.
type finder struct {
	*Weight
	s      Store
	faults []Fault
}

func (f *finder) fault(kind FaultKind, part Part, tensor, format string, args ...any) {
	f.faults = append(f.faults, Fault{kind, tensor, part, fmt.Sprintf(format, args...)})
}

// Find assembles the weight whose codes are the stored tensor name. The weight is nil where the tensor is no matrix (a
// vector, a table of integers, a scale), where its scheme is not decoded, and where faults say why.
func (p *Plan) Find(s Store, name string) (*Weight, []Fault) {
	info, ok := s.Tensor(name)
	if !ok {
		return nil, []Fault{{Missing, name, Codes, name + " is not there"}}
	}
	module, part := Split(name)
	if part != Codes || info.Elements() == 0 {
		return nil, nil
	}
	w := &Weight{Module: module, Info: info, Slices: 1, store: s, parts: map[Part]string{Codes: name}}
	f := &finder{Weight: w, s: s}
	f.gather(module)
	params, said, skipped := p.For(f.Module)
	layout := params.Layout
	told := f.told(p)
	switch {
	case !said && skipped != "" && told != Plain && told != "" && p.Declared && f.scaled():
		f.fault(Lies, Codes, name, "%s is stored as %s with %s beside it, but %s leaves it out of quantisation (%q): "+
			"engines "+
			"load it as a plain weight", name, info.DType, f.parts[Scale], p.Source, skipped)
		layout, params = told, f.guessed(p, told)
	case !said:
		layout = told
		if told == "" || told != Plain && !p.guesses() && !f.scaled() {
			return nil, nil
		}
		params = f.guessed(p, told)
	case p.guesses() && told != "" && told != layout:
		layout, params = told, f.guessed(p, told)
	case told == Plain && !f.scaled() && params.Layout != None_:
		layout = Plain // not a linear layer, or left out without being named: the doctor asks its peers
	}
	f.params, f.Layout = params, layout
	if !f.build(p) || slices.ContainsFunc(f.faults, func(x Fault) bool { return x.Kind != Lies }) {
		return nil, f.faults
	}
	return f.Weight, f.faults
}

// gather looks for the parts that stand beside the codes.
func (f *finder) gather(module string) {
	stems := []string{module}
	for _, end := range []string{".weight", "_blocks"} { // an expert tensor's own name may end a module
		if stem, ok := strings.CutSuffix(f.Name(), end); ok && stem != module {
			stems = append(stems, stem)
		}
	}
	for _, stem := range stems {
		for _, s := range suffixes {
			if s.part == Codes || s.part == Cache || s.part == Other {
				continue
			}
			if _, taken := f.parts[s.part]; taken {
				continue
			}
			if _, ok := f.s.Tensor(stem + s.suffix); ok {
				f.parts[s.part] = stem + s.suffix
			}
		}
	}
}

// scaled tells whether scales stand beside the codes.
func (f *finder) scaled() bool { return f.parts[Scale] != "" || f.parts[Global] != "" }

// told gives the layout that dtype and neighbours suggest; "" for a tensor that holds no weight.
func (f *finder) told(p *Plan) string {
	d, name := f.Info.DType, f.Name()
	scale, _ := f.s.Tensor(f.parts[Scale])
	switch {
	case strings.HasSuffix(name, "_weight_qdata"):
		return TorAO
	case strings.HasSuffix(name, ".qweight") && f.parts[Scale] != "":
		if len(scale.Shape) == 2 && len(f.Info.Shape) == 2 && scale.Shape[1] == f.Info.Shape[1] {
			return GPTQ
		}
		return AWQ
	case f.parts[State] != "":
		return BnB4
	case f.parts[Offset] != "" && d == safetensors.U32:
		return MLX
	case strings.HasSuffix(name, ".weight_packed") && d == safetensors.I32:
		return Int
	case f.parts[Global] != "" && narrow(d):
		return NVFP4
	case d == safetensors.F8E4M3 || d == safetensors.F8E5M2:
		if (scale.DType == safetensors.U8 || scale.DType == safetensors.F8E8M0) && len(f.Info.Shape) >= 2 &&
			len(scale.Shape) == len(f.Info.Shape) && last(scale.Shape) == (last(f.Info.Shape)+31)/32 &&
			(last(scale.Shape) > 1 || scale.Shape[0] == f.Info.Shape[0]) {
			return MXFP8
		}
		return FP8
	case narrow(d) && scale.DType == safetensors.F8E4M3 && strings.HasSuffix(scale.Name, "weight_scale"):
		return NVFP4
	case d == safetensors.I8 && f.parts[Scale] != "" && !slices.Contains(e8m0Types, scale.DType) && scale.DType.Bits() > 8:
		if strings.HasSuffix(f.parts[Scale], ".SCB") {
			return BnB8
		}
		if p.Method == "w4afp8" {
			return Int4P
		}
		return Int
	case narrow(d) && f.parts[Scale] != "":
		return MXFP4
	}
	if _, ok := floatCodec(d); ok {
		return Plain
	}
	return ""
}

func narrow(d safetensors.DType) bool {
	return d == safetensors.U8 || d == safetensors.I8 || d == safetensors.F4
}

func last(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// guessed are the parameters of a layout that nothing declares.
func (f *finder) guessed(plan *Plan, layout string) Params {
	p := Params{Layout: layout}
	switch layout {
	case FP8:
		if plan.assumed.Layout == FP8 {
			return plan.assumed
		}
	case NVFP4:
		p.Group, p.Divide = 16, strings.HasSuffix(f.parts[Global], ".weight_global_scale")
	case MXFP4, MXFP8:
		p.Group = 32
	case Int:
		p.Bits, p.Symmetric = 8, f.parts[Zero] == ""
		if f.Info.DType == safetensors.I32 {
			p.Bits = 4
		}
	case GPTQ:
		p.Bits, p.ZeroLess = 4, 1
	case AWQ, BnB4, Int4P:
		p.Bits = 4
	}
	return p
}

// shape fills slices, rows and columns from a stored shape whose last dimension holds per elements.
func (f *finder) shape(per int) bool {
	s := f.Info.Shape
	if len(s) < 2 {
		return false
	}
	f.Rows, f.Cols = s[len(s)-2], s[len(s)-1]*per
	for _, d := range s[:len(s)-2] {
		f.Slices *= d
	}
	return true
}

// need gives a part's description or reports that it is not there.
func (f *finder) need(part Part, suffix string) (safetensors.Info, bool) {
	name := f.parts[part]
	if name == "" {
		f.fault(Missing, part, f.Module+suffix, "%s is stored as %s (%s), but %s is not there: without its %s the "+
			"values are "+
			"unknown; fetch or convert the checkpoint again", f.Name(), f.Info.DType, f.Layout, f.Module+suffix, part)
		return safetensors.Info{}, false
	}
	return f.s.Tensor(name)
}

// fits reports a part whose shape is none of those wanted, or whose dtype none of those that its writers use.
func (f *finder) fits(part Part, info safetensors.Info, dtypes []safetensors.DType, shapes ...[]int) bool {
	ok := true
	if len(shapes) > 0 && !slices.ContainsFunc(shapes, func(s []int) bool { return slices.Equal(s, info.Shape) }) {
		f.fault(BadShape, part, info.Name, "%s has shape %v; %s of %d x %d values (%s) needs %v: convert the tensor again",
			info.Name, info.Shape, f.Name(), f.Total(), f.Cols, f.Layout, shapes[0])
		ok = false
	}
	if len(dtypes) > 0 && !slices.Contains(dtypes, info.DType) {
		f.fault(BadDType, part, info.Name, "%s is stored as %s; a %s of %s (%s, %s) is %s: the header was relabelled or the "+
			"conversion went wrong", info.Name, info.DType, part, f.Name(), f.Layout, f.Info.DType, words(dtypes))
		ok = false
	}
	return ok
}

func words(d []safetensors.DType) string {
	var out []string
	for _, x := range d {
		out = append(out, string(x))
	}
	return strings.Join(out, " or ")
}

// codes reports codes of a dtype that the layout does not have.
func (f *finder) codes(dtypes ...safetensors.DType) bool {
	if slices.Contains(dtypes, f.Info.DType) {
		return true
	}
	f.fault(BadDType, Codes, f.Name(), "%s is stored as %s; %s calls it %s, which is stored as %s: the header was "+
		"relabelled, or the tensor was left out of the conversion", f.Name(), f.Info.DType, "the checkpoint", f.Layout,
		words(dtypes))
	return false
}
