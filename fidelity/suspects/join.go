package suspects

import (
	"fmt"
	"slices"
	"strings"
)

// State of a suspect.
type State string

// The states.
const (
	Cleared      State = "cleared"
	Implicated   State = "implicated"
	NotExercised State = "not exercised"
)

// Status is the answer on one suspect.
type Status struct {
	Patch    Patch
	Stock    bool // no patch: a part of the stock engine that the diagnosis points at
	State    State
	Evidence []string
}

// paths are the parts of an engine that a class of the live diagnosis points at, with the operators that make them up.
var paths = map[string]struct {
	part string
	ops  []string
}{
	"sparse-selection": {
		"sparse selection", []string{
			"indexer_logits", "indexer_logits_paged", "index_key_store", "topk", "topk_pages", "sparse_attention",
		},
	},
	"tail-only": {
		"far attention path", []string{
			"indexer_logits", "indexer_logits_paged", "topk", "topk_pages", "sparse_attention", "extend_rows", "gqa_attention",
		},
	},
	"junk-cliff": {
		"kernel dispatch beyond a length", []string{
			"indexer_logits", "indexer_logits_paged", "topk", "topk_pages", "sparse_attention", "gqa_attention", "mla_attention",
			"dense_gemm", "bf16_gemm", "fp8_gemm", "block_fp8_gemm",
		},
	},
	"position-encoding": {"rotary tables", []string{"rope", "rope_table", "index_key_store"}},
	"coarse-kv": {
		"quantised cache", []string{
			"kv_write", "mla_kv_write", "gqa_attention", "mla_attention", "index_key_store", "sparse_attention",
		},
	},
	"chunk-seam": {
		"chunked prefill", []string{
			"sparse_attention", "extend_rows", "merge_state", "merge_states", "compress", "compress_extend",
			"indexer_logits_paged",
		},
	},
	"phase": {"alignment of lengths", []string{"compress", "compress_extend", "indexer_logits_paged", "extend_rows"}},
}

// Join gives every patch its state, and adds the parts of the stock engine that the diagnosis points at when all
// patches of theirs are cleared.
func Join(patches []Patch, e Evidence) []Status {
	var out []Status
	for _, p := range patches {
		out = append(out, judge(p, e))
	}
	for _, c := range e.Classes {
		part, known := paths[c.Class]
		if !known {
			continue
		}
		open := slices.ContainsFunc(out, func(s Status) bool {
			return s.State != Cleared && slices.Contains(part.ops, s.Patch.Operator)
		})
		s := Status{
			Patch: Patch{Name: "stock " + part.part, Operator: strings.Join(part.ops, ", ")},
			Stock: true,
			State: Implicated,
		}
		s.Evidence = append(s.Evidence, fmt.Sprintf("live: %s (%s)", c.Class, c.Confidence))
		if open {
			s.State = NotExercised
			s.Evidence = append(s.Evidence, "a patch of this part is not cleared yet, so that the stock code cannot be told "+
				"from it")
		} else {
			s.Evidence = append(s.Evidence, "every patch that touches this part is cleared by its own kernel")
		}
		out = append(out, s)
	}
	return out
}

// judge is one patch.
func judge(p Patch, e Evidence) Status {
	s := Status{Patch: p, State: NotExercised}
	passed, failed, broke := map[string]int{}, map[string]int{}, 0
	var causes, paths []string
	for _, k := range e.Kernels {
		if k.Op != p.Operator || p.Candidate != "" && k.Candidate != p.Candidate || !p.used(k.Phase) {
			continue
		}
		switch k.Outcome {
		case "pass":
			passed[k.Phase]++
		case "fail":
			failed[k.Phase]++
			if k.Cause != "" && !slices.Contains(causes, k.Cause) {
				causes = append(causes, k.Cause)
			}
		case "error":
			broke++
		}
		if k.Path != "" && !slices.Contains(paths, k.Path) {
			paths = append(paths, k.Path)
		}
	}
	for _, phase := range p.wanted(passed, failed) {
		name := phase
		if name == "" {
			name = "all phases"
		}
		switch {
		case failed[phase] > 0:
			s.State = Implicated
			s.Evidence = append(s.Evidence,
				fmt.Sprintf("kernels: differs in %d of %d cases, %s%s", failed[phase], failed[phase]+passed[phase], name,
					because(causes)))
		case passed[phase] > 0:
			s.Evidence = append(s.Evidence, fmt.Sprintf("kernels: equivalent in %d cases, %s", passed[phase], name))
		default:
			s.Evidence = append(s.Evidence, fmt.Sprintf("kernels: no case ran, %s", name))
		}
	}
	if broke > 0 {
		s.Evidence = append(s.Evidence, fmt.Sprintf("kernels: the worker broke in %d cases, which says nothing of the "+
			"results", broke))
	}
	if len(paths) > 0 {
		slices.Sort(paths)
		s.Evidence = append(s.Evidence, "paths: "+strings.Join(paths, ", "))
	}
	if rows := e.Numerics[p.Operator]; len(rows) > 0 {
		s.State = Implicated
		s.Evidence = append(s.Evidence, fmt.Sprintf("numerics: %d rows beyond their bound, %s first", len(rows), rows[0]))
	} else if n := e.Passed[p.Operator]; n > 0 {
		s.Evidence = append(s.Evidence, fmt.Sprintf("numerics: %d rows within their bounds", n))
	}
	if s.State != Implicated && p.complete(passed) {
		s.State = Cleared
	}
	for _, c := range e.Classes {
		if part, known := pathsOf(c.Class); known && slices.Contains(part, p.Operator) {
			s.Evidence = append(s.Evidence, fmt.Sprintf("live: the diagnosis %s points at this path", c.Class))
			if s.State == NotExercised {
				s.State = Implicated
				s.Evidence = append(s.Evidence, "nothing has cleared it")
			}
		}
	}
	return s
}

func pathsOf(class string) ([]string, bool) {
	p, ok := paths[class]
	return p.ops, ok
}

func because(causes []string) string {
	if len(causes) == 0 {
		return ""
	}
	return ": " + strings.Join(causes, ", ")
}

func (p Patch) used(phase string) bool {
	return phase == "" || len(p.Phases) == 0 || slices.Contains(p.Phases, phase)
}

// wanted are the phases that the evidence must speak of: those of the patch, and those that ran.
func (p Patch) wanted(passed, failed map[string]int) []string {
	var out []string
	if passed[""]+failed[""] > 0 {
		return []string{""} // an operator without phases
	}
	for _, phase := range phases {
		if slices.Contains(p.Phases, phase) || passed[phase]+failed[phase] > 0 {
			out = append(out, phase)
		}
	}
	return out
}

// complete tells whether every phase of the patch has passed somewhere.
func (p Patch) complete(passed map[string]int) bool {
	if passed[""] > 0 {
		return true
	}
	if len(p.Phases) == 0 {
		return len(passed) > 0
	}
	for _, phase := range p.Phases {
		if passed[phase] == 0 {
			return false
		}
	}
	return true
}

// Next is the switch to flip next: of an implicated patch first, then of one that nothing has exercised; nothing where
// all are cleared.
func Next(all []Status) string {
	for _, want := range []State{Implicated, NotExercised} {
		for _, s := range all {
			if s.State == want && !s.Stock && s.Patch.Off != "" {
				return fmt.Sprintf("%s: %s", s.Patch.Name, s.Patch.Off)
			}
		}
	}
	return ""
}
