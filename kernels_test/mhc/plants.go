package mhc

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// plant is a fault put into an otherwise correct candidate.
type plant struct {
	Name, Effect, Origin string
	Row, Class           string
	On                   []string // operators it applies to
	Declared             []string // contracts under whose cases it runs; nil is all

	Apply func(oracle.Ops) oracle.Ops           // a fault of the operators
	Wrap  func(bench.Candidate) bench.Candidate // a fault of what is read or written
	Runs  func(declared string) (Recipe, bool)  // a recipe that is not the declared one
}

// build builds the faulty candidate that declares a contract.
func (p plant) build(contract string) (bench.Candidate, error) {
	r, err := Built(contract)
	if err != nil {
		return nil, err
	}
	if p.Runs != nil {
		other, ok := p.Runs(contract)
		if !ok {
			return nil, fmt.Errorf("fault %q does not run under contract %q", p.Name, contract)
		}
		r = other
	}
	ops := r.Ops()
	if p.Apply != nil {
		ops = p.Apply(ops)
	}
	c := FromOps(p.Name, ops)
	if p.Wrap != nil {
		c = p.Wrap(c)
	}
	return c, nil
}

var (
	mixing = []string{"mhc_pre", "mhc_head"}
	splits = []string{"mhc_pre"}
	spread = []string{"mhc_post"}
	every  = []string{"mhc_pre", "mhc_post", "mhc_head"}
)

// plants lists the faults: those of the catalogue that concern hyper-connections, those of this package's operators
// that the catalogue lumps together or lacks, faults of memory, and arithmetic that is not what was declared.
func plants() []bench.Plant {
	var out []bench.Plant
	for _, p := range slices.Concat(catalogued(), operatorPlants, sinkhornPlants, memoryPlants, contractPlants) {
		out = append(out, bench.Plant{
			Name: p.Name, Effect: p.Effect, Origin: p.Origin, Row: p.Row, Class: p.Class, On: p.On, Declared: p.Declared,
			Build: p.build,
		})
	}
	return out
}

// catalogued are the faults of oracle.Ops that the model serves, too.
func catalogued() []plant {
	var out []plant
	for _, row := range []struct {
		name, class string
		on          []string
	}{
		{"comb-transposed", "layout", spread},
		{"hc-eps-missing", "eps", splits},
		{"sinkhorn-one-step-short", "variant", splits},
		{"hc-reads-past-end", "unread-memory", mixing},
	} {
		if f, err := faults.Lookup(row.name); err == nil {
			out = append(out, plant{
				Name:   f.Name,
				Effect: f.Effect,
				Origin: f.Origin,
				Class:  row.class,
				On:     row.on,
				Apply:  f.Apply,
			})
		}
	}
	for _, row := range []struct {
		id, name string
		on       []string
	}{
		{"H1", "hc-norm-sqrt2", mixing},
		{"H3", "sinkhorn-exp-without-eps", splits},
		{"H4", "sinkhorn-in-log-space", splits},
	} {
		if f, err := faults.Lookup(row.name); err == nil {
			out = append(out, fromRow(row.id, plant{On: row.on, Apply: f.Apply}))
		}
	}
	return out
}

// fromRow takes what is known of a row of the catalogue.
func fromRow(id string, p plant) plant {
	if r, err := faults.ByRow(id); err == nil {
		p.Name, p.Effect, p.Origin, p.Row, p.Class = r.Slug, r.Effect, r.Origin, r.ID, r.Class
	}
	return p
}

// contractPlants compute something else than they declare.
var contractPlants = []plant{
	fromRow("A6", plant{On: mixing, Declared: []string{"fp32"}, Runs: built("bf16")}),
	{
		Name: "tf32-declared-fp32", Class: "accumulation", Effect: "the mixing GEMM runs in TF32 and is declared fp32",
		Origin: "E4: TF32 is the production default",
		On:     mixing, Declared: []string{"fp32"}, Runs: built("tf32-rn"),
	},
	{
		Name: "bf16-declared-tf32-rn", Class: "accumulation", Effect: "the mixing GEMM runs in bf16 and is declared TF32",
		Origin: "A6",
		On:     mixing, Declared: []string{"tf32-rn"}, Runs: built("bf16"),
	},
	{
		Name: "tf32-rz-declared-tf32-rn", Class: "accumulation", Effect: "operands are truncated to TF32 where rounding to " +
			"nearest is declared", Origin: "raw fp32 bits fed to a TF32 unit",
		On: mixing, Declared: []string{"tf32-rn"}, Runs: reading(numerics.MHCTF32(), format.RZ),
	},
	{
		Name: "bf16-rz-declared-bf16", Class: "accumulation", Effect: "operands are truncated to bf16 where rounding to " +
			"nearest is declared", Origin: "bf16 by dropping the low half of the word",
		On: mixing, Declared: []string{"bf16"}, Runs: reading(numerics.MHCBF16(), format.RZ),
	},
	{
		Name: "tf32-rna-declared-tf32-rn", Class: "accumulation", Effect: "ties go away from zero in TF32 where ties to " +
			"even are declared", Origin: "TileKernels adds 0x1000 to the bits (docs/sources.md, mHC)",
		On: mixing, Declared: []string{"tf32-rn"}, Runs: reading(numerics.MHCTF32(), format.RNA),
	},
}

func built(contract string) func(string) (Recipe, bool) {
	return func(string) (Recipe, bool) {
		r, err := Built(contract)
		return r, err == nil
	}
}

func reading(c numerics.Contract, r format.Rounding) func(string) (Recipe, bool) {
	return func(string) (Recipe, bool) {
		recipe := plain()
		recipe.Gemm = GemmUnder(c.WithInputRounding(r))
		return recipe, true
	}
}
