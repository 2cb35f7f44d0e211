package mhc

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	mixing = []string{"mhc_pre", "mhc_head"}
	splits = []string{"mhc_pre"}
	spread = []string{"mhc_post"}
	every  = []string{"mhc_pre", "mhc_post", "mhc_head"}
	alone  = []string{"sinkhorn"}
)

// plants lists the faults: those of the catalogue that concern hyper-connections, those of this package's operators
// that the catalogue lumps together or lacks, faults of calls and of memory, and arithmetic that is not what was
// declared.
func plants() []bench.Plant {
	return slices.Concat(served(), operatorPlants(), callPlants(), writePlants(), contractPlants(), alonePlants())
}

// operators builds the contract's own candidate with changed operators.
func operators(apply func(oracle.Ops) oracle.Ops) bench.Builder {
	return func(contract string) (bench.Candidate, error) {
		r, err := Built(contract)
		if err != nil {
			return nil, err
		}
		return FromOps("faulty", apply(r.Ops())), nil
	}
}

// served are the faults of oracle.Ops that the model serves, too.
func served() []bench.Plant {
	rows := []bench.Plant{
		bench.RowPlant(faults.H1, mixing, nil), bench.RowPlant(faults.H3, splits, nil),
		bench.RowPlant(faults.H4, splits, nil),
		{Class: "layout", On: spread},
		{Class: "eps", On: splits},
		{Class: "variant", On: splits},
		{Class: "unread-memory", On: mixing},
	}
	for i, name := range []string{
		"hc-norm-sqrt2", "sinkhorn-exp-without-eps", "sinkhorn-in-log-space", "comb-transposed", "hc-eps-missing",
		"sinkhorn-one-step-short", "hc-reads-past-end",
	} {
		f, err := faults.Lookup(name)
		if p := &rows[i]; p.Row == "" {
			p.Name, p.Effect, p.Origin = name, f.Effect, f.Origin
		}
		rows[i].Build = func(contract string) (bench.Candidate, error) {
			if err != nil {
				return nil, err
			}
			return operators(f.Apply)(contract)
		}
	}
	return rows
}

// contractPlants compute something else than they declare.
func contractPlants() []bench.Plant {
	reading := func(c numerics.Contract, r format.Rounding) bench.Builder {
		return func(string) (bench.Candidate, error) {
			recipe := plain()
			recipe.Gemm = GemmUnder(c.WithInputRounding(r))
			return FromOps("faulty", recipe.Ops()), nil
		}
	}
	running := func(contract string) bench.Builder {
		return func(string) (bench.Candidate, error) { return built(contract) }
	}
	plant := func(name, effect, origin, declared string, build bench.Builder) bench.Plant {
		return bench.Plant{
			Name: name, Class: "accumulation", Effect: effect, Origin: origin, On: mixing, Declared: []string{declared},
			Build: build,
		}
	}
	return []bench.Plant{
		bench.RowPlant(faults.A6, mixing, running("bf16")).Under("fp32"),
		plant("tf32-declared-fp32", "the mixing GEMM runs in TF32 and is declared fp32",
			"E4: TF32 is the production default", "fp32", running("tf32-rn")),
		plant("bf16-declared-tf32-rn", "the mixing GEMM runs in bf16 and is declared TF32", "A6", "tf32-rn",
			running("bf16")),
		plant("tf32-rz-declared-tf32-rn", "operands are truncated to TF32 where rounding to nearest is declared",
			"raw fp32 bits fed to a TF32 unit", "tf32-rn", reading(numerics.MHCTF32(), format.RZ)),
		plant("bf16-declared-tf32-rz", "the mixing GEMM runs in bf16 and is declared truncated TF32", "A6", "tf32-rz",
			running("bf16")),
		plant("nine-bits-declared-tf32-rz", "operands keep 9 of TF32's 10 fraction bits", "a mask one bit too long",
			"tf32-rz", nineBits),
		plant("bf16-rz-declared-bf16", "operands are truncated to bf16 where rounding to nearest is declared",
			"bf16 by dropping the low half of the word", "bf16", reading(numerics.MHCBF16(), format.RZ)),
		plant("tf32-rna-declared-tf32-rn", "ties go away from zero in TF32 where ties to even are declared",
			"TileKernels adds 0x1000 to the bits (docs/sources.md, mHC)", "tf32-rn",
			reading(numerics.MHCTF32(), format.RNA)),
	}
}

// nineBits feeds the TF32 unit words of which it keeps 9 fraction bits.
func nineBits(string) (bench.Candidate, error) {
	c := numerics.MHCTF32Truncated()
	for name, o := range c.Inputs {
		o.Format.ManBits = 9
		c.Inputs[name] = o
	}
	recipe := plain()
	recipe.Gemm = GemmUnder(c)
	return FromOps("faulty", recipe.Ops()), nil
}
