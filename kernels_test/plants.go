package kernels

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// Plant is a fault put into an otherwise correct candidate, to see that the judge finds it.
type Plant struct {
	Name, Effect, Origin string
	On                   []string // operators it applies to
	Declared             []string // contracts under whose cases it runs; nil is all

	Apply func(oracle.Ops) oracle.Ops          // a fault of the operators
	Wrap  func(Candidate) Candidate            // a fault of what is read or written
	Runs  func(declared string) (Recipe, bool) // a recipe that is not the declared one
}

// Concerns tells whether a plant can be put into a case: its operator, and a contract that it declares.
func (p Plant) Concerns(c Case) bool {
	return slices.Contains(p.On, c.Family.Op) && (p.Declared == nil || slices.Contains(p.Declared, c.Contract.Name))
}

// Candidate builds the faulty candidate that declares a contract.
func (p Plant) Candidate(contract string) (Candidate, error) {
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

// Plants lists the faults: those of the catalogue that concern hyper-connections, those of this package's operators that the
// catalogue lumps together or lacks, faults of memory, and arithmetic that is not what was declared.
func Plants() ([]Plant, error) {
	var out []Plant
	for _, row := range []struct {
		name string
		on   []string
	}{
		{"comb-transposed", spread},
		{"hc-eps-missing", splits},
		{"sinkhorn-one-step-short", splits},
		{"hc-norm-sqrt2", mixing},
		{"hc-reads-past-end", mixing},
	} {
		f, err := faults.Lookup(row.name)
		if err != nil {
			return nil, fmt.Errorf("the mHC suites plant it: %w", err)
		}
		out = append(out, Plant{Name: f.Name, Effect: f.Effect, Origin: f.Origin, On: row.on, Apply: f.Apply})
	}
	return slices.Concat(out, operatorPlants, sinkhornPlants, memoryPlants, contractPlants), nil
}

// contractPlants compute something else than they declare.
var contractPlants = []Plant{
	{
		Name: "bf16-declared-fp32", Effect: "the mixing GEMM runs in bf16 and is declared fp32", Origin: "A6: the seeds' hyper-connection patch",
		On: mixing, Declared: []string{"fp32"}, Runs: built("bf16"),
	},
	{
		Name: "tf32-declared-fp32", Effect: "the mixing GEMM runs in TF32 and is declared fp32", Origin: "E4: TF32 is the production default",
		On: mixing, Declared: []string{"fp32"}, Runs: built("tf32-rn"),
	},
	{
		Name: "bf16-declared-tf32-rn", Effect: "the mixing GEMM runs in bf16 and is declared TF32", Origin: "A6",
		On: mixing, Declared: []string{"tf32-rn"}, Runs: built("bf16"),
	},
	{
		Name: "tf32-rz-declared-tf32-rn", Effect: "operands are truncated to TF32 where rounding to nearest is declared", Origin: "raw fp32 bits fed to a TF32 unit",
		On: mixing, Declared: []string{"tf32-rn"}, Runs: reading(numerics.MHCTF32(), format.RZ),
	},
	{
		Name: "bf16-rz-declared-bf16", Effect: "operands are truncated to bf16 where rounding to nearest is declared", Origin: "bf16 by dropping the low half of the word",
		On: mixing, Declared: []string{"bf16"}, Runs: reading(numerics.MHCBF16(), format.RZ),
	},
	{
		Name: "tf32-rna-declared-tf32-rn", Effect: "ties go away from zero in TF32 where ties to even are declared", Origin: "TileKernels adds 0x1000 to the bits (docs/sources.md, mHC)",
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
