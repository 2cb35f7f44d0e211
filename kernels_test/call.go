package kernels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Call is one request to a candidate: the line of the worker protocol as a value.
type Call struct {
	Op      string // mhc_pre, mhc_post, mhc_head
	Case    string // ID of the case
	Attrs   map[string]float64
	Storage map[string]Storage // inputs as they lie in memory
	Views   map[string]View    // operands, contiguous ones too; what no view reaches may not be read
	Outputs map[string]Output
}

// Output is what a candidate allocates, prefills and writes.
type Output struct {
	DType   string
	Shape   []int
	Prefill string // "nan": the pattern of PrefillBits in every element
}

// PrefillBits is the NaN that outputs are filled with before a call: quiet, with a payload that no arithmetic produces.
const PrefillBits = 0x7fc5a55a

// Prefill is that NaN as a judge sees it.
func Prefill() float64 { return float64(math.Float32frombits(PrefillBits)) }

// Reply is a candidate's answer.
type Reply struct {
	Outputs map[string]Storage
	Seconds float64
	Path    string // the kernel that ran, in the candidate's own words
}

// Hello is what a candidate says about itself.
type Hello struct {
	Name, Version, Device string
	Ops                   map[string]Capability
}

// Capability is what a candidate can do of one operator.
type Capability struct {
	DTypes, Phases, Modes []string
}

// Candidate is code under test. Run answers one call; an error that wraps ErrUnsupported says that the candidate does not
// offer this call, every other error is a broken candidate and not a wrong result.
type Candidate interface {
	Hello(ctx context.Context) (Hello, error)
	Run(ctx context.Context, call Call) (Reply, error)
}

// ErrUnsupported marks calls that a candidate does not offer.
var ErrUnsupported = errors.New("unsupported")

// Check returns an error for a call whose views leave their storages.
func (c Call) Check() error {
	for _, name := range slices.Sorted(maps.Keys(c.Views)) {
		v := c.Views[name]
		s, ok := c.Storage[v.Storage]
		if !ok {
			return fmt.Errorf("call of %q: view %q looks into storage %q, which the call does not have", c.Op, name, v.Storage)
		}
		if s.DType != "F32" {
			return fmt.Errorf("call of %q: storage %q has dtype %q; in-process candidates read F32", c.Op, v.Storage, s.DType)
		}
		if err := v.check(name, len(s.F32)); err != nil {
			return fmt.Errorf("call of %q: %w", c.Op, err)
		}
	}
	return nil
}

// Allocate returns the outputs that a call asks for, prefilled.
func (c Call) Allocate() map[string]Storage {
	out := make(map[string]Storage, len(c.Outputs))
	for name, o := range c.Outputs {
		n := 1
		for _, d := range o.Shape {
			n *= d
		}
		s := Storage{o.DType, make([]float32, n)}
		for i := range s.F32 {
			s.F32[i] = math.Float32frombits(PrefillBits)
		}
		out[name] = s
	}
	return out
}

// clone copies a call with its memory.
func (c Call) clone() Call {
	storage := make(map[string]Storage, len(c.Storage))
	for name, s := range c.Storage {
		storage[name] = s.clone()
	}
	c.Storage, c.Views = storage, maps.Clone(c.Views)
	return c
}
