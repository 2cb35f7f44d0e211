package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Registry is a set of cases with unique, valid IDs. The zero value is empty and ready; it is safe for concurrent use.
type Registry struct {
	mu    sync.Mutex
	cases map[string]Case
	errs  []error
}

// Register adds cases. It keeps going over a case that is invalid or known already, and Err reports it, so that
// registration can stand in package initialisation where nobody looks at an error.
func (r *Registry) Register(cases ...Case) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cases == nil {
		r.cases = map[string]Case{}
	}
	for _, c := range cases {
		if err := c.Validate(); err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		if _, twice := r.cases[c.ID]; twice {
			r.errs = append(r.errs, fmt.Errorf("case %q is registered twice: IDs are golden keys and must be unique", c.ID))
			continue
		}
		r.cases[c.ID] = c
	}
}

// Cases returns the registered cases sorted by ID.
func (r *Registry) Cases() []Case {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Case, 0, len(r.cases))
	for _, c := range r.cases {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Err returns every registration that was refused, joined.
func (r *Registry) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}

// registered is the registry of this process; Main lists it and refuses to run on its errors.
var registered Registry

// Register adds cases to the registry of this process.
func Register(cases ...Case) { registered.Register(cases...) }

// Cases returns the cases of this process whose ID begins with prefix, sorted by ID.
func Cases(prefix string) []Case {
	return slices.DeleteFunc(registered.Cases(), func(c Case) bool { return !strings.HasPrefix(c.ID, prefix) })
}

// IDs returns the IDs of cases in their order.
func IDs(cases []Case) []string {
	out := make([]string, len(cases))
	for i, c := range cases {
		out[i] = c.ID
	}
	return out
}

// Matching are the cases that have a text in their ID, claim, catches, needs or cost, upper and lower case alike.
func Matching(cases []Case, text string) []Case {
	text = strings.ToLower(text)
	return slices.DeleteFunc(slices.Clone(cases), func(c Case) bool {
		all := append([]string{c.ID, c.Claim, c.Cost.String()}, append(slices.Clone(c.Catches), c.Needs...)...)
		return !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
	})
}

// PrintCases writes one block of lines for each case: its ID, claim, what it catches and needs, and its cost.
func PrintCases(w io.Writer, cases []Case) error {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s\n    claim    %s\n", c.ID, c.Claim)
		if len(c.Catches) > 0 {
			fmt.Fprintf(&b, "    catches  %s\n", strings.Join(c.Catches, ", "))
		}
		if len(c.Needs) > 0 {
			fmt.Fprintf(&b, "    needs    %s\n", strings.Join(c.Needs, ", "))
		}
		fmt.Fprintf(&b, "    cost     %s\n", c.Cost)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String names the parts that are not zero.
func (c Cost) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		unit string
	}{{c.Requests, "requests"}, {c.Tokens, "tokens"}, {c.Elements, "elements"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.unit))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
