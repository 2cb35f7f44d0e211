package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/assay-suite/assay/numerics"
)

// Facet is one thing that a candidate can offer of an operator: how operands are stored, what is written, in which
// phase, and how it is launched. What a facet leaves open is arithmetic, which is the contract's.
type Facet struct {
	Op     string
	Layout string // "paged", the name of a byte layout; empty for plain tensors
	Format string // dtypes of the main operands, "BF16+F8_E4M3"
	Out    string // dtype of the main output
	Phase  string // empty where the operator's cases have none
	Mode   string // empty is eager
	// Attrs are the attributes in which the operator's contracts differ, such as the base of a log-sum-exp: what a call
	// asks for, not how exact its answer is. "lse_base 2".
	Attrs string

	attrs  map[string]string
	asked  []string // of attrs, those of FacetRule.OptIn
	dtypes []string // of the floating-point main operands: what a worker's `dtypes` are compared with
}

// String is the facet as a table shows it: "gqa_attention paged BF16+F8_E4M3 -> BF16, decode".
func (f Facet) String() string { return strings.TrimSpace(f.Op + " " + f.Slug()) }

// Slug is the facet without its operator.
func (f Facet) Slug() string {
	parts := []string{strings.TrimSpace(f.Layout+" "+f.Format) + " -> " + f.Out, f.Phase, f.Mode, f.Attrs}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// same tells whether two facets are the same one.
func (f Facet) same(o Facet) bool { return f.Op == o.Op && f.Slug() == o.Slug() }

// FacetRule says which of an operator's operands make its facets. The zero value takes every operand that is no index.
type FacetRule struct {
	Main   []string          // operands whose dtypes a worker's `dtypes` mean, in the order of the facet's name
	Scales []string          // operands that belong to the storage format and are not counted among `dtypes`
	Out    string            // the main output; empty is the first by name
	Paged  string            // the operand whose presence makes a call paged
	Attr   string            // the attribute that names a layout of bytes
	Casts  map[string]string // operands that come in another dtype besides the one that is drawn
	Half   []string          // operands and outputs that come in bf16 as well, all of them together
	Looser []string          // contracts that are looser than what the operands' format stands for
	// OptIn are attributes that most kernels lack, with their usual value: rows with another value are a facet of their
	// own, which only a worker offers that lists the value among its attrs. They are facets by themselves so that a kernel
	// which does not know the attribute is not called with it.
	OptIn map[string]any
}

// facet reads the facet of a problem.
func (r FacetRule) facet(op, phase string, p Problem) Facet {
	f := Facet{Op: op, Phase: phase, Mode: p.Mode}
	if f.Mode == "eager" {
		f.Mode = ""
	}
	names, main := slices.Concat(r.Main, r.Scales), r.Main
	if r.Main == nil {
		names = slices.Sorted(maps.Keys(p.Operands))
		main = names
	}
	var format []string
	for _, name := range names {
		o, ok := p.Operands[name]
		if !ok || r.Main == nil && integer(o.DType) && o.DType != U8 {
			continue
		}
		if !slices.Contains(format, o.DType) {
			format = append(format, o.DType)
		}
		if slices.Contains(main, name) && !integer(o.DType) && !slices.Contains(f.dtypes, o.DType) {
			f.dtypes = append(f.dtypes, o.DType)
		}
	}
	if f.Format = strings.Join(format, "+"); f.Format == "" {
		f.Format = I32
	}
	if _, paged := p.Operands[r.Paged]; paged {
		f.Layout = "paged"
	}
	if word := p.Attrs.Word(r.Attr); word != "" && slices.Contains(format, U8) {
		f.Layout = strings.TrimSpace(f.Layout + " " + word)
	}
	out := r.Out
	if _, ok := p.Outputs[out]; !ok {
		for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
			out = name
			break
		}
	}
	f.Out = p.Outputs[out].DType
	return f
}

// FacetCases are the cases of a facet under every contract that its format can be judged by, sharpest first. Every
// contract has the same rows: a looser one never has fewer.
type FacetCases struct {
	Facet     Facet
	Contracts []numerics.Contract
	Rows      []FacetRow
}

// FacetRow is a scenario at a shape.
type FacetRow struct {
	ID    string // of the case without its contract
	under func(c numerics.Contract) Case
}

// Under is the row's case under a contract.
func (r FacetRow) Under(c numerics.Contract) Case { return r.under(c) }

// Facets lists what there is to offer of a family, with all the rows that each facet's layout admits. Cases that the
// budget leaves out are not among them. An error says that a case cannot be drawn although its table promises it.
func (s Suite) Facets(f Family) ([]FacetCases, error) {
	if s.Memo != nil {
		return s.Memo.facets(s, f)
	}
	return s.facets(f)
}

// Memo keeps what Facets lists of a suite, since every case is drawn for it: for a suite whose families do not change.
type Memo struct {
	mu   sync.Mutex
	kept map[string][]FacetCases // by operator and whether the full rows are among them
}

func (m *Memo) facets(s Suite, f Family) ([]FacetCases, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprint(f.Op, full())
	if kept, ok := m.kept[key]; ok {
		return slices.Clone(kept), nil
	}
	listed, err := s.facets(f)
	if err != nil {
		return nil, err
	}
	if m.kept == nil {
		m.kept = map[string][]FacetCases{}
	}
	m.kept[key] = listed
	return slices.Clone(listed), nil
}

func (s Suite) facets(f Family) ([]FacetCases, error) {
	drawn, err := s.drawn(f)
	if err != nil {
		return nil, err
	}
	differ := differing(drawn)
	var out []FacetCases
	for _, d := range drawn {
		facet := d.facet
		facet.attrs = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(f.Facets.OptIn)) {
			if v, ok := d.attrs[name]; ok && v != f.Facets.OptIn[name] {
				facet.asked = append(facet.asked, name)
			}
		}
		for _, name := range append(slices.Sorted(maps.Keys(differ)), facet.asked...) {
			if v, ok := d.attrs[name]; ok && facet.attrs[name] == "" {
				facet.attrs[name] = fmt.Sprint(v)
				facet.Attrs = strings.TrimSpace(fmt.Sprintf("%s %s %v", facet.Attrs, name, v))
			}
		}
		out = add(out, facet, d.contract, FacetRow{d.row, d.under})
	}
	for i := range out {
		out[i].order(f.Contracts)
		out[i].Rows = append(out[i].Rows, s.nanRows(f, out[i], drawn)...)
		out[i].order(f.Contracts)
	}
	return out, nil
}

// drawnCase is a scenario at a shape as one contract draws it.
type drawnCase struct {
	facet    Facet
	contract numerics.Contract
	row      string
	attrs    Attrs
	under    func(c numerics.Contract) Case

	scenario string
	holds    []string // operands and outputs that can hold a NaN; nil: no row about NaN is made of it
	several  bool     // its results have several rows
	plain    bool     // inputs as the family draws them
	size     int      // elements
}

// drawn draws every scenario at every shape under every contract.
func (s Suite) drawn(f Family) ([]drawnCase, error) {
	var out []drawnCase
	phased := f.phased()
	n := 0
	for _, k := range f.Scenarios {
		if k.Full && !full() {
			continue
		}
		for _, shape := range k.Shapes {
			for _, form := range f.forms(k, shape, n) {
				some, err := s.drawnForm(f, form, phased)
				if err != nil {
					return nil, err
				}
				out = append(out, some...)
			}
			n++
		}
	}
	return out, nil
}

// drawnForm draws one scenario at one shape under every contract.
func (s Suite) drawnForm(f Family, form form, phased bool) ([]drawnCase, error) {
	var out []drawnCase
	k, shape := form.scenario, form.shape
	for _, contract := range f.Contracts {
		c := s.at(f, k, shape, contract)
		p, err := attemptProblem(c)
		switch {
		case errors.Is(err, errNoForm):
			continue
		case err != nil && (k.Contracts == nil || slices.Contains(k.Contracts, contract.Name)):
			return nil, err
		case err != nil:
			continue // this layout has no such row
		}
		phase := k.Phase
		if !phased {
			phase = ""
		}
		d := drawnCase{
			facet: f.Facets.facet(f.Op, phase, p), contract: contract, row: c.RowID(), attrs: p.Attrs,
			under: func(c numerics.Contract) Case { return s.at(f, k, shape, c) },
		}
		d.plain, d.scenario = form.plain, k.ID
		if k.Relate == nil {
			d.holds = f.NaN.holds(p)
		}
		for _, o := range p.Operands {
			d.size += len(o.Values)
		}
		for _, o := range p.Outputs {
			d.several = d.several || len(o.Shape) > 1 && o.Shape[0] > 1
		}
		out = append(out, d)
	}
	return out, nil
}

// differing are the attributes that differ between contracts of one row and facet.
func differing(drawn []drawnCase) map[string]bool {
	out, first := map[string]bool{}, map[string]Attrs{}
	for _, d := range drawn {
		key := d.row + " " + d.facet.Slug()
		attrs, seen := first[key]
		if !seen {
			first[key] = d.attrs
			continue
		}
		for name, v := range d.attrs {
			if attrs[name] != v {
				out[name] = true
			}
		}
	}
	return out
}

// phased tells whether every scenario of a family has a phase; else phases are words of single scenarios.
func (f Family) phased() bool {
	return !slices.ContainsFunc(f.Scenarios, func(k Scenario) bool { return k.Phase == "" })
}

func add(all []FacetCases, facet Facet, c numerics.Contract, row FacetRow) []FacetCases {
	at := slices.IndexFunc(all, func(f FacetCases) bool { return f.Facet.same(facet) })
	if at < 0 {
		at, all = len(all), append(all, FacetCases{Facet: facet})
	}
	f := &all[at]
	if !slices.ContainsFunc(f.Contracts, func(o numerics.Contract) bool { return o.Name == c.Name }) {
		f.Contracts = append(f.Contracts, c)
	}
	if !slices.ContainsFunc(f.Rows, func(r FacetRow) bool { return r.ID == row.ID }) {
		f.Rows = append(f.Rows, row)
	}
	return all
}

// order sorts contracts as the family has them and rows by ID.
func (f *FacetCases) order(contracts []numerics.Contract) {
	place := func(c numerics.Contract) int {
		return slices.IndexFunc(contracts, func(o numerics.Contract) bool { return o.Name == c.Name })
	}
	slices.SortStableFunc(f.Contracts, func(a, b numerics.Contract) int { return place(a) - place(b) })
	slices.SortFunc(f.Rows, func(a, b FacetRow) int { return strings.Compare(a.ID, b.ID) })
}

// attemptProblem draws a case that its tables may never have promised to draw: a generator that panics has no such
// case.
func attemptProblem(c Case) (p Problem, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("case %q cannot be drawn: %v", c.ID, e)
		}
	}()
	return c.Problem()
}

// Offers tells whether a candidate has said that it offers a facet: by its list of facets where it gave one, else by
// its lists of dtypes, phases and modes, of which an empty one means all (modes: eager).
func Offers(h Hello, f Facet) bool {
	can, ok := h.Ops[f.Op]
	if !ok {
		return false
	}
	if !offersAttrs(can, f) {
		return false
	}
	if len(can.Facets) > 0 {
		return slices.ContainsFunc(can.Facets, func(o Offer) bool { return means(o, f) })
	}
	if len(can.DTypes) > 0 {
		for _, d := range f.dtypes {
			if !slices.ContainsFunc(can.DTypes, func(o string) bool { return dtypeName(o) == d }) {
				return false
			}
		}
	}
	return offersWord(can.Phases, f.Phase) && (f.Mode == "" || slices.Contains(can.Modes, f.Mode))
}

// offersAttrs tells whether the values of the attributes in which contracts differ are among those that are offered.
func offersAttrs(can Capability, f Facet) bool {
	for name, v := range f.attrs {
		listed := can.Attrs[name]
		if !offersWord(listed, v) || len(listed) == 0 && slices.Contains(f.asked, name) {
			return false
		}
	}
	return true
}

func offersWord(list []string, word string) bool {
	return word == "" || len(list) == 0 || slices.Contains(list, word)
}

// means tells whether an entry of a list of facets means a facet: what it leaves out is any.
func means(o Offer, f Facet) bool {
	for _, d := range f.dtypes {
		if len(o.DTypes) > 0 && !slices.ContainsFunc(o.DTypes, func(s string) bool { return dtypeName(s) == d }) {
			return false
		}
	}
	mode := f.Mode
	if mode == "" {
		mode = "eager"
	}
	return (o.Out == "" || dtypeName(o.Out) == f.Out) && (o.Layout == "" || o.Layout == f.Layout) &&
		(o.Phase == "" || o.Phase == f.Phase) && (o.Mode == mode || o.Mode == "" && mode == "eager")
}

// dtypeName is the safetensors name of a dtype that may be spelled as torch or numpy do.
func dtypeName(s string) string {
	switch strings.ToLower(strings.TrimPrefix(s, "torch.")) {
	case "float32", "f32":
		return F32
	case "bfloat16", "bf16":
		return BF16
	case "float16", "half", "f16":
		return F16
	case "float8_e4m3fn", "f8_e4m3":
		return E4M3
	case "float8_e8m0fnu", "f8_e8m0":
		return E8M0
	case "uint8", "u8":
		return U8
	}
	return s
}
