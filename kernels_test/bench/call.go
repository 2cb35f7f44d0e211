package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/protocol"
)

// Attrs are an operator's own words: numbers (float64), switches (bool) and names (string).
type Attrs map[string]any

// Num is a number, 0 where it is not given.
func (a Attrs) Num(name string) float64 {
	v, _ := a[name].(float64)
	return v
}

// Int is a whole number, 0 where it is not given.
func (a Attrs) Int(name string) int { return int(a.Num(name)) }

// Flag is a switch, off where it is not given.
func (a Attrs) Flag(name string) bool {
	v, _ := a[name].(bool)
	return v
}

// Word is a name, empty where it is not given.
func (a Attrs) Word(name string) string {
	v, _ := a[name].(string)
	return v
}

// Call is one request to a candidate: the line of the worker protocol as a value.
type Call struct {
	Op      string // indexer_logits_paged, sparse_attention, ...
	Case    string // ID of the case
	Phase   string // prefill, decode, extend; empty where the operator has none
	Mode    string // candidate.Eager or Graph; empty is eager
	Repeat  int    // runs from the same memory, each with a digest; 0 is 1
	Time    int    // timed repetitions after the call, for candidates that measure kernels; 0 for none
	Attrs   Attrs
	Storage map[string]Storage // inputs as they lie in memory
	Views   map[string]View    // operands, contiguous ones too; what no view reaches may not be read
	Outputs map[string]Output

	CaptureWith *Call  // graph mode: the call whose shorter shapes are captured first
	BatchWith   []Call // calls to run in the same launch; their outputs are in Reply.Batch
}

// Output is what a candidate allocates, prefills and writes. Prefill is "nan" or the bits of one element as "0x...".
type Output struct {
	DType   string
	Shape   []int
	Prefill string
}

// Out is a floating-point output, prefilled with NaN.
func Out(dtype string, shape ...int) Output { return Output{dtype, shape, PreNaN} }

// OutI32 is an index output, prefilled with a value that no index has.
func OutI32(shape ...int) Output { return Output{I32, shape, "0x7fc5a55a"} }

// Reply is a candidate's answer.
type Reply struct {
	Outputs map[string]Storage
	Seconds float64
	Path    string               // the kernel that ran, in the candidate's own words
	Digests []string             // one for each repeat, equal where the bits are
	Batch   []map[string]Storage // outputs of Call.BatchWith
	Times   *protocol.Times      // where Call.Time asked for them and the candidate measures
}

// Hello is what a candidate says about itself.
type Hello = protocol.Hello

// Capability is what a candidate offers of one operator.
type Capability = protocol.Capability

// Offer is an entry of a candidate's list of facets.
type Offer = protocol.Offer

// Candidate is code under test. Run answers one call; an error that wraps ErrUnsupported says that the candidate does
// not offer this call, every other error is a broken candidate and not a wrong result.
type Candidate interface {
	Hello(ctx context.Context) (Hello, error)
	Run(ctx context.Context, call Call) (Reply, error)
}

// ErrUnsupported marks calls that a candidate does not offer.
var ErrUnsupported = errors.New("unsupported")

// Unsupported tells whether an error means that the candidate does not offer the call.
func Unsupported(err error) bool { return errors.Is(err, ErrUnsupported) }

// Check returns an error for a call whose views leave their storages.
func (c Call) Check() error {
	for _, name := range slices.Sorted(maps.Keys(c.Views)) {
		v := c.Views[name]
		s, ok := c.Storage[v.Storage]
		if !ok {
			return fmt.Errorf("call of %q: view %q looks into storage %q, which the call does not have", c.Op, name, v.Storage)
		}
		if err := v.check(name, len(s.Data)); err != nil {
			return fmt.Errorf("call of %q: %w", c.Op, err)
		}
	}
	return nil
}

// Allocate returns the outputs that a call asks for, prefilled.
func (c Call) Allocate() map[string]Storage {
	out := make(map[string]Storage, len(c.Outputs))
	for name, o := range c.Outputs {
		s := Storage{o.DType, make([]float64, product(o.Shape))}
		v := prefilled(o.DType, o.Prefill)
		for i := range s.Data {
			s.Data[i] = v
		}
		out[name] = s
	}
	return out
}

// Clone copies a call with its memory.
func (c Call) Clone() Call {
	storage := make(map[string]Storage, len(c.Storage))
	for name, s := range c.Storage {
		storage[name] = s.clone()
	}
	c.Storage, c.Views, c.Attrs, c.Outputs = storage, maps.Clone(c.Views), maps.Clone(c.Attrs), maps.Clone(c.Outputs)
	return c
}

// offers returns an error that wraps ErrUnsupported where a candidate has said that it does not offer a call.
func offers(h Hello, c Call) error {
	can, ok := h.Ops[c.Op]
	switch {
	case !ok:
		return fmt.Errorf("%q does not have operator %q: %w", h.Name, c.Op, ErrUnsupported)
	case c.Phase != "" && len(can.Phases) > 0 && !slices.Contains(can.Phases, c.Phase):
		return fmt.Errorf("%q offers %s in %q, not in %q: %w", h.Name, c.Op, can.Phases, c.Phase, ErrUnsupported)
	case c.Mode != "" && c.Mode != "eager" && !slices.Contains(can.Modes, c.Mode):
		return fmt.Errorf("%q offers %s in modes %q, not %q: %w", h.Name, c.Op, can.Modes, c.Mode, ErrUnsupported)
	}
	return nil
}
