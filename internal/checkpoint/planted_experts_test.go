package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// flip exchanges the nibbles of every byte.
func (f *folder) flip(name string) {
	f.get(name).each(func(_ int, b byte) byte { return b<<4 | b>>4 })
}

// permuteRows takes row i of a matrix, or element i of a vector, from from(i).
func (f *folder) permuteRows(name string, from func(int) int) {
	s := f.get(name)
	size := len(s.raw) / s.shape[0]
	old := bytes.Clone(s.raw)
	for r := range s.shape[0] {
		copy(s.raw[r*size:(r+1)*size], old[from(r)*size:])
	}
}

// transposedComb is the row of a 4-stream mixing matrix that holds its row's transposed comb entry.
func transposedComb(r int) int {
	if r < 8 {
		return r
	}
	return 8 + (r-8)%4*4 + (r-8)/4
}

func TestPlantedExperts(t *testing.T) {
	t.Parallel()
	const plain, mx, nv = "nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"
	const distinct = "layers.3.ffn.experts.2." // an expert whose gate and up differ beyond the stated risk
	var plants []plant
	for _, folder := range nanoFolders {
		plants = append(
			plants,
			plant{
				name:   "gate-and-up-swapped-" + folder,
				folder: folder,
				kind:   checkpoint.KindGateUpSwapped,
				about:  distinct + "w1.weight",
				damage: func(f *folder_) { f.exchange(distinct+"w1", distinct+"w3") },
			},
			plant{
				name:   "gate-and-up-swapped-base-" + folder,
				folder: folder,
				base:   true,
				kind:   checkpoint.KindGateUpSwapped,
				about:  "layers.0.ffn.experts.3.w1.weight",
				also:   []string{checkpoint.KindGateUpSwapped},
				damage: func(f *folder_) {
					f.exchange("layers.0.ffn.experts.3.w1", "layers.0.ffn.experts.3.w3") // too alike for the statistics
				},
			},
			plant{
				name:   "gate-and-up-swapped-everywhere-" + folder,
				folder: folder,
				kind:   checkpoint.KindGateUpSwapped,
				about:  "layers.0.ffn.experts.0.w3.weight",
				damage: func(f *folder_) {
					for _, s := range f.tensors {
						stem, ok := strings.CutSuffix(s.name, "w1.weight")
						if ok {
							stem = checkpoint.Canonical(stem)
							f.exchange(stem+"w1", stem+"w3")
						}
					}
				},
			},
			plant{
				name:   "down-of-another-expert-" + folder,
				folder: folder,
				kind:   checkpoint.KindMismatched,
				about:  expert + "w2.weight",
				also:   []string{checkpoint.KindMismatched},
				damage: func(f *folder_) {
					f.exchange(expert+"w2", "layers.1.ffn.experts.0.w2")
				},
			},
			plant{
				name:   "up-of-another-expert-" + folder,
				folder: folder,
				kind:   checkpoint.KindMismatched,
				about:  expert + "w3.weight",
				also:   []string{checkpoint.KindMismatched, checkpoint.KindGateUpScale},
				damage: func(f *folder_) {
					f.exchange(expert+"w3", "layers.1.ffn.experts.0.w3")
				},
			},
			plant{
				name:   "experts-exchanged-" + folder,
				folder: folder,
				base:   true,
				kind:   checkpoint.KindBaseSwapped,
				about:  expert + "w2.weight",
				also:   []string{checkpoint.KindBaseSwapped},
				damage: func(f *folder_) {
					f.exchange(expert, "layers.1.ffn.experts.0.")
				},
			},
		)
	}
	plants = append(
		plants,
		plant{
			name:   "layers-exchanged-",
			folder: mx,
			base:   true,
			kind:   checkpoint.KindBaseSwapped,
			about:  "layers.3.attn.wkv.weight",
			also:   []string{checkpoint.KindBaseSwapped},
			damage: func(f *folder_) {
				f.exchange("layers.3.attn.wkv", "layers.1.attn.wkv")
			},
		},
		plant{
			name:   "comb-transposed-fn-",
			folder: nv,
			base:   true,
			kind:   checkpoint.KindBaseTransposed,
			about:  "layers.2.hc_ffn_fn",
			damage: func(f *folder_) { f.permuteRows("layers.2.hc_ffn_fn", transposedComb) },
		},
		plant{
			name:   "comb-transposed-base-",
			folder: mx,
			base:   true,
			kind:   checkpoint.KindBaseTransposed,
			about:  "layers.2.hc_attn_base",
			damage: func(f *folder_) { f.permuteRows("layers.2.hc_attn_base", transposedComb) },
		},
		plant{
			name:   "one-value-",
			folder: nv,
			base:   true,
			kind:   checkpoint.KindBaseDiffers,
			about:  "layers.2.attn_norm.weight",
			damage: set32("layers.2.attn_norm.weight", 77, 0.123),
		},
		plant{
			name:   "hc-rounded-to-bf16-",
			folder: plain,
			base:   true,
			kind:   checkpoint.KindBaseDiffers,
			about:  "layers.2.hc_attn_fn",
			damage: func(f *folder_) {
				s := f.get("layers.2.hc_attn_fn")
				v := s.float32s()
				for i := range v {
					v[i] = math.Float32frombits(math.Float32bits(v[i]) &^ 0xffff)
				}
				s.setFloat32s(v)
			},
		},
		plant{
			name:   "table-shifted-",
			folder: mx,
			base:   true,
			kind:   checkpoint.KindBaseDiffers,
			about:  "layers.0.ffn.gate.tid2eid",
			damage: func(f *folder_) {
				f.permuteRows("layers.0.ffn.gate.tid2eid", func(r int) int { return (r + 1) % 1024 })
			},
		},
	)
	plants = append(plants, plant{
		name:   "matrix-transposed",
		folder: plain,
		base:   true,
		kind:   checkpoint.KindBaseTransposed,
		about:  "layers.2.attn.wo_b.weight",
		damage: func(f *folder_) {
			s := f.get("layers.2.attn.wo_b.weight")
			old := bytes.Clone(s.raw)
			for r := range 128 {
				for c := range 128 {
					binary.LittleEndian.PutUint32(s.raw[4*(128*r+c):], binary.LittleEndian.Uint32(old[4*(128*c+r):]))
				}
			}
		},
	})
	for _, folder := range []string{mx, nv} {
		for _, part := range []string{"w1", "w2", "w3"} {
			about := "layers.2.ffn.experts.1." + part + ".weight"
			plants = append(
				plants,
				plant{
					name:   "nibble-order-" + part + "-" + folder,
					folder: folder,
					kind:   checkpoint.KindNibbles,
					about:  about,
					also:   []string{checkpoint.KindMismatched, checkpoint.KindGateUpSwapped},
					damage: func(f *folder_) { f.flip(about) },
				},
				plant{
					name:   "nibble-order-base-" + part + "-" + folder,
					folder: folder,
					base:   true,
					kind:   checkpoint.KindNibbles,
					about:  about,
					also:   []string{checkpoint.KindMismatched},
					damage: func(f *folder_) { f.flip(about) },
				},
			)
		}
	}
	check(t, plants)
}

// folder_ is folder where a loop variable of that name hides it.
type folder_ = folder
