package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// count is a whole number of config.json. Families that build their layers differently store a list, one entry for each
// layer: that is 0, nothing known, unless all entries are the same.
type count int

// UnmarshalJSON takes a whole number in any form, null, or a list.
func (n *count) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		*n = 0
		same := !slices.ContainsFunc(list, func(x json.RawMessage) bool { return string(x) != string(list[0]) })
		if len(list) == 0 || !same {
			return nil
		}
		var one count
		if one.UnmarshalJSON(list[0]) == nil {
			*n = one
		}
		return nil
	}
	var v float64
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("%s is not a whole number: %w", raw, err)
	}
	if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
		return fmt.Errorf("%s is not a whole number", raw)
	}
	*n = count(v)
	return nil
}

// layerSettings are the keys under which families list what differs from layer to layer.
var layerSettings = []string{
	"intermediate_size", "num_attention_heads", "num_key_value_heads", "num_query_heads", "num_kv_heads", "head_dim",
	"ffn_multipliers", "moe_intermediate_size", "num_experts", "moe_num_experts", "n_routed_experts", "block_configs",
}

// unlikeLayers tells whether config.json lists settings layer by layer.
func unlikeLayers(raw []byte) bool {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return false
	}
	for _, key := range layerSettings {
		var list []json.RawMessage
		if json.Unmarshal(f[key], &list) == nil && len(list) > 1 {
			return true
		}
	}
	return len(f["text_config"]) > 0 && unlikeLayers(f["text_config"])
}

// ifFits is a setting that other families may have in another form: then it is the zero value.
type ifFits[T any] struct{ v T }

// UnmarshalJSON never fails.
func (x *ifFits[T]) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &x.v) != nil {
		var zero T
		x.v = zero
	}
	return nil
}
