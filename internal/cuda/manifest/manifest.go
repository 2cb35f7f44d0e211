package manifest

import "github.com/assay-suite/assay/kernels_test/protocol"

// Manifest says how one operator is computed by the kernels of one source.
type Manifest struct {
	Path     string // of the manifest, for messages
	Operator string
	Source   string   // .cu, .ptx or .cubin, relative to the manifest's folder
	Options  []string // for NVRTC
	Offer    protocol.Capability

	In, Out []Operand
	Scratch []Operand // buffers that are neither sent nor returned; filled with NaN before the first launch
	Require []Expr    // of the call; one that is 0 makes it unsupported
	Let     []Let
	Launch  []Launch // in this order on one stream
}

// Operand is a tensor with its dtype in safetensors' words. A dimension that is a single name not known yet is bound by
// the tensor's size, every other one is compared with it.
type Operand struct {
	Name, DType string
	Shape       []Expr
	Optional    bool
	line        int
}

// Let names a value.
type Let struct {
	Name string
	Expr Expr
}

// Launch is one kernel launch.
type Launch struct {
	Entry       string
	Grid, Block [3]Expr
	Shared      Expr // dynamic shared memory, bytes
	Args        []Arg
	line        int
}

// Arg is one parameter of a kernel: the address of an operand, or a number of a type.
type Arg struct {
	Operand string // an operand's name; empty for a number
	Type    string // i32, u32, i64, u64, f32, f64
	Expr    Expr
}

// Tensors are all operands, outputs and scratch buffers.
func (m Manifest) Tensors() []Operand {
	return append(append(append([]Operand{}, m.In...), m.Out...), m.Scratch...)
}

// Strided tells whether an expression of a launch or a let mentions a stride of an operand: the kernel reads it as it
// lies. An operand whose strides nothing mentions is packed without gaps first.
func (m Manifest) Strided(operand string) bool {
	found := false
	look := func(e Expr) {
		e.Names(func(name string) {
			for _, d := range "0123456789" {
				found = found || name == operand+".stride"+string(d)
			}
		})
	}
	for _, l := range m.Let {
		look(l.Expr)
	}
	for _, l := range m.Launch {
		for _, a := range l.Args {
			if a.Operand == "" {
				look(a.Expr)
			}
		}
	}
	return found
}
