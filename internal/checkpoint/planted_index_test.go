package checkpoint_test

import (
	"maps"
	"testing"

	"github.com/assay-suite/assay/internal/checkpoint"
)

const (
	shard1 = "model-00001-of-00003.safetensors"
	shard2 = "model-00002-of-00003.safetensors"
	shard3 = "model-00003-of-00003.safetensors"
)

func TestPlantedIndexAndConfig(t *testing.T) {
	t.Parallel()
	plants := []plant{
		{
			name:   "shard-truncated",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindShardBroken,
			damage: func(f *folder) { f.cuts[shard2] = 1000 },
		},
		{
			name:   "shard-missing",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindShardMissing,
			damage: func(f *folder) { f.files[shard3] = nil },
		},
		{
			name:   "stale-index",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindIndexStale,
			about:  "layers.3.attn.wkv_old.weight",
			damage: func(f *folder) {
				f.weights = f.listing()
				f.weights["layers.3.attn.wkv_old.weight"] = shard3
			},
		},
		{
			name:   "tensor-unlisted",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindUnlisted,
			about:  "norm.weight",
			damage: func(f *folder) {
				f.weights = f.listing()
				delete(f.weights, "norm.weight")
			},
		},
		{
			name:   "listed-twice-in-index",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindIndexStale,
			about:  "norm.weight",
			damage: func(f *folder) {
				f.rawIndex = func(raw []byte) []byte {
					return append(raw[:len(raw)-2], `,"norm.weight":"`+shard3+`"}}`...)
				}
			},
		},
		{
			name:   "wrong-shard",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindIndexWrongShard,
			about:  "norm.weight",
			damage: func(f *folder) {
				f.weights = f.listing()
				f.weights["norm.weight"] = shard1
			},
		},
		{
			name:   "wrong-total-size",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindTotalSize,
			damage: func(f *folder) { f.total = 123 },
		},
		{
			name:   "tensor-in-two-shards",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindTwoShards,
			about:  "norm.weight",
			also:   []string{checkpoint.KindTotalSize},
			damage: func(f *folder) {
				f.add(f.get("norm.weight"), "norm.weight", shard1)
			},
		},
		{name: "stray-shard", folder: "nano-v4-mxfp4", kind: checkpoint.KindShardUnlisted, damage: func(f *folder) {
			f.files["model-00004-of-00004.safetensors"] = encode(f.tensors, shard3)
		}},
		{name: "index-cut", folder: "nano-v4-nvfp4", kind: checkpoint.KindIndexUnreadable, damage: func(f *folder) {
			f.rawIndex = func(raw []byte) []byte { return raw[:len(raw)/2] }
		}},
		{
			name:   "two-spellings",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindTwoSpellings,
			about:  "layers.0.attn_norm.weight",
			damage: func(f *folder) {
				f.add(f.get("layers.0.attn_norm.weight"), "model.layers.0.attn_norm.weight", shard1)
			},
		},
		{name: "config-more-layers", folder: "nano-v4-mxfp4", kind: checkpoint.KindLayerCount, damage: func(f *folder) {
			f.config["num_hidden_layers"] = 5
			f.config["layer_types"] = append(f.config["layer_types"].([]any), "sliding_attention")
			f.config["mlp_layer_types"] = append(f.config["mlp_layer_types"].([]any), "moe")
		}},
		{name: "config-fewer-layers", folder: "nano-v4", kind: checkpoint.KindLayerCount, damage: func(f *folder) {
			f.config["num_hidden_layers"] = 3
			f.config["layer_types"] = f.config["layer_types"].([]any)[:3]
			f.config["mlp_layer_types"] = f.config["mlp_layer_types"].([]any)[:3]
		}},
		{
			name:   "config-more-experts",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindExpertCount,
			also:   []string{checkpoint.KindShape},
			damage: func(f *folder) { f.config["n_routed_experts"] = 6 },
		},
		{
			name:   "config-contradicts-itself",
			folder: "nano-v4",
			kind:   checkpoint.KindConfig,
			damage: func(f *folder) { f.config["num_hidden_layers"] = 9 },
		},
		{
			name:   "config-cut",
			folder: "nano-v4",
			kind:   checkpoint.KindConfig,
			damage: func(f *folder) { f.files["config.json"] = []byte(`{"hidden_size": `) },
		},
		{
			name:   "shape-against-config",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindShape,
			about:  "layers.1.attn.indexer.weights_proj.weight",
			also:   []string{checkpoint.KindShape},
			damage: func(f *folder) { f.config["index_n_heads"] = 8 },
		},
		{
			name:   "tensor-extra",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindExtra,
			about:  "layers.0.attn.old_norm.weight",
			damage: func(f *folder) {
				f.add(f.get("layers.0.attn_norm.weight"), "layers.0.attn.old_norm.weight", shard1)
			},
		},
		{
			name:   "tensor-missing",
			folder: "nano-v4",
			kind:   checkpoint.KindMissing,
			about:  "layers.2.attn.attn_sink",
			damage: func(f *folder) { f.remove("layers.2.attn.attn_sink") },
		},
		{
			name:   "bias-missing",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindBiasMissing,
			about:  "layers.2.ffn.gate.bias",
			damage: func(f *folder) { f.remove("layers.2.ffn.gate.bias") },
		},
		{
			name:   "bias-missing-without-config",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindBiasMissing,
			about:  "layers.2.ffn.gate.bias",
			damage: func(f *folder) {
				f.files["config.json"] = nil
				f.remove("layers.2.ffn.gate.bias")
			},
		},
		{
			name:   "bias-on-hash-layer",
			folder: "nano-v4",
			kind:   checkpoint.KindBiasOnHash,
			about:  "layers.0.ffn.gate.bias",
			damage: func(f *folder) {
				f.add(f.get("layers.1.ffn.gate.bias"), "model.layers.0.ffn.gate.bias", "model.safetensors")
			},
		},
		{
			name:   "bias-on-hash-layer-without-config",
			folder: "nano-v4",
			kind:   checkpoint.KindBiasOnHash,
			about:  "layers.0.ffn.gate.bias",
			damage: func(f *folder) {
				f.files["config.json"] = nil
				f.add(f.get("layers.1.ffn.gate.bias"), "model.layers.0.ffn.gate.bias", "model.safetensors")
			},
		},
		{
			name:   "table-missing",
			folder: "nano-v4",
			kind:   checkpoint.KindTableMissing,
			about:  "layers.0.ffn.gate.tid2eid",
			damage: func(f *folder) { f.remove("layers.0.ffn.gate.tid2eid") },
		},
		{
			name:   "table-on-learned-layer",
			folder: "nano-v4",
			kind:   checkpoint.KindTableExtra,
			about:  "layers.1.ffn.gate.tid2eid",
			damage: func(f *folder) {
				f.add(f.get("layers.0.ffn.gate.tid2eid"), "model.layers.1.ffn.gate.tid2eid", "model.safetensors")
			},
		},
	}
	for i := range plants {
		plants[i].quick = true
	}
	check(t, plants)
}

// What is written undamaged is sound: the plants above are found because of the damage.
func TestWrittenFoldersAreSound(t *testing.T) {
	for _, name := range nanoFolders {
		f := open(t, name)
		f.config = maps.Clone(f.config)
		examineSound(t, name, f.write())
	}
}
