package inflate

import (
	"fmt"
	"strings"
)

// readme says in the folder what it is.
func readme(o Options, m *layout, s Summary) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s in the shape of %s, %s\n", o.FromName, m.shape.Name, o.Format.Name)
	line("Written by assay's `inflate`. The model is %s as a function: the same logits, up to the arithmetic of the",
		o.FromName)
	line("format and of the engine. It recalls needles and knows nothing else.\n")
	line("| | |\n| --- | --- |")
	line("| parameters | %.1f M in %d tensors, %d shards, %.2f GiB |", float64(s.Parameters)/1e6, s.Tensors, s.Shards,
		float64(s.Bytes)/(1<<30))
	line("| layers | %d, of which %d hand their input on unchanged |", s.Layers, s.Passing)
	if o.Seed == 0 {
		line("| the small model | placed into the first channels, heads and groups; the rest is zero |")
	} else {
		line("| the small model | spread over all channels, heads and groups by exact symmetries, seed %d |", o.Seed)
	}
	line("\nWhat is the shape's own: hidden size %d, query rank %d, %d heads of %d (%d rotated), index heads %d of %d,",
		m.shape.Hidden, m.shape.QRank, m.shape.Heads, m.shape.HeadDim, m.shape.RopeDims, m.shape.IndexHeads, m.shape.IndexDim)
	line("%d groups of the output projection of rank %d, experts of %d inner channels, %d experts for a token.\n",
		m.shape.Groups, m.shape.ORank, m.shape.Inner, m.shape.TopExperts)
	line("What is not:\n")
	line("- experts: %d (the shape has %d), copies of the model's %d; a token's %d are %d copies of each of the %d that "+
		"the",
		o.Experts, m.shape.Experts, m.small.Experts, m.shape.TopExperts, m.shape.TopExperts/m.small.ExpertsPerToken,
		m.small.ExpertsPerToken)
	line("  model chose. %d are never chosen in learned layers", spares(m))
	line("- window %d, index top-k %d, compress ratios: the model's, since they are part of the function", m.small.Window,
		m.small.TopK)
	line("- rotated numbers: %d of %d carry signal, those whose frequencies the model has; the others are zero",
		m.small.RopeDims, m.shape.RopeDims)
	line("- vocabulary: %d, words of the prompts", m.tokens.N)
	if o.Words {
		line("- ids from %d on are words that stand for an id of the model (`alias.json`); they are never answered",
			m.small.Vocab)
	}
	if o.Format.Name == "nvfp4" {
		line("- `input_scale` is set for activations up to %d, not calibrated", activation)
	}
	return []byte(b.String())
}

func spares(m *layout) int {
	n := 0
	for _, spare := range m.spare[len(m.spare)-1] {
		if spare {
			n++
		}
	}
	return n
}
