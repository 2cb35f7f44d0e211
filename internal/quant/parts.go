package quant

import (
	"strings"
)

// Part says what a stored tensor is to its module.
type Part int

// The parts of a module. Codes is the tensor that holds the values or codes themselves; None belongs to no weight.
const (
	None Part = iota
	Codes
	Scale      // of a block, row or tensor
	Global     // one factor over the scales
	Zero       // zero points, as codes or packed codes
	Order      // group of every input (g_idx)
	Shape      // the shape before packing
	Offset     // added after scaling (MLX biases)
	Table      // the values of the codes
	State      // JSON about the other parts (bitsandbytes)
	NestedMax  // absmax of the scales
	NestedMap  // values of the scales' codes
	Input      // scale of the activations
	InputScale // factor over the activations' scales
	Cache      // scale of the key or value cache
	Other      // known, and not needed to decode
)

func (p Part) String() string {
	return [...]string{
		"none", "codes", "scale", "global scale", "zero point", "group index", "shape", "bias", "table", "state",
		"nested absmax", "nested table", "input scale", "input global scale", "cache scale", "other",
	}[p]
}

// suffixes of a stored name behind its module, longest of a kind first: ".scales" must not be read as ".scale" + "s".
var suffixes = []struct {
	suffix string
	part   Part
}{
	{".weight_scale_inv", Scale},
	{".weight_scale_2", Global},
	{".weight_global_scale", Global},
	{".weight_zero_point", Zero},
	{".weight_packed", Codes},
	{".weight_scale", Scale},
	{".weight_shape", Shape},
	{".weight_g_idx", Order},
	{".weight_format", Other},
	{".weight.absmax", Scale},
	{".weight.quant_map", Table},
	{".weight.nested_absmax", NestedMax},
	{".weight.nested_quant_map", NestedMap},
	{".weight.quant_state.bitsandbytes__nf4", State},
	{".weight.quant_state.bitsandbytes__fp4", State},
	{".input_global_scale", InputScale},
	{".input_scale", Input},
	{".activation_scale", Input},
	{".input_zero_point", Other},
	{".output_scale", Other},
	{".pre_quant_scale", Other},
	{".q_scale", Cache},
	{".k_scale", Cache},
	{".v_scale", Cache},
	{".kv_scale", Cache},
	{".qweight", Codes},
	{".qzeros", Zero},
	{".scales", Scale},
	{".biases", Offset},
	{".g_idx", Order},
	{".SCB", Scale},
	{".scale", Scale},
	{".weight", Codes},
	{"._weight_qdata", Codes},
	{"._weight_scale_and_zero", Scale},
	{"._weight_zero_point", Zero},
	{"._weight_act_pre_scale", Other},
	{"._weight_scale", Scale},
	{"._weight_zero", Zero},
	// several experts in one tensor: the name of the projection goes on
	{"_blocks", Codes},
	{"_scales", Scale},
	{"_weight_scale_2", Global},
	{"_weight_scale", Scale},
	{"_scale_inv", Scale},
	{"_input_scale", Input},
}

// Split gives the module that a stored tensor belongs to, by its suffix, and what it is to it. A tensor of another name
// is its own module and its codes.
func Split(name string) (module string, part Part) {
	// Nearly every name ends in .weight: look at the last byte first.
	if strings.HasSuffix(name, ".weight") {
		return name[:len(name)-7], Codes
	}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			return name[:len(name)-len(s.suffix)], s.part
		}
	}
	return name, Codes
}
