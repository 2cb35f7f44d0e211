package kernels

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kills is what became of one plant under one contract: the gate that stopped it, by case ID, as "bound(comb)"; empty where
// the case accepted the fault.
type Kills struct {
	Plant    Plant
	Contract string
	Gates    map[string]string
}

// Kill runs every plant that concerns a case in it and returns the gate that stopped each, by the plant's name.
func Kill(ctx context.Context, c Case, plants []Plant) (map[string]string, error) {
	b, err := NewBench(c)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range plants {
		if !p.Concerns(c) {
			continue
		}
		candidate, err := p.Candidate(c.Contract.Name)
		if err != nil {
			return nil, err
		}
		r, err := b.Judge(ctx, candidate)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w", p.Name, err)
		}
		out[p.Name] = r.Gate()
	}
	return out, nil
}

// Killed counts the cases that rejected the fault.
func (k Kills) Killed() int {
	n := 0
	for _, g := range k.Gates {
		if g != "" {
			n++
		}
	}
	return n
}

// byGate counts the kills by gate and output.
func (k Kills) byGate() map[string]int {
	out := map[string]int{}
	for _, g := range k.Gates {
		if g != "" {
			out[g]++
		}
	}
	return out
}

// Table prints one line for each plant and contract: how many of the cases killed it and by which gates.
func Table(kills []Kills) string {
	var out strings.Builder
	for _, k := range kills {
		counts := k.byGate()
		gates := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		var parts []string
		for _, g := range gates {
			parts = append(parts, fmt.Sprintf("%s %d", g, counts[g]))
		}
		fmt.Fprintf(&out, "%-26s %-8s %3d of %3d  %s\n", k.Plant.Name, k.Contract, k.Killed(), len(k.Gates), strings.Join(parts, ", "))
	}
	return out.String()
}
