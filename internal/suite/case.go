package suite

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Case is the unit of filtering, sharding, ledger and golden keys.
type Case struct {
	// ID is a slug path of [a-z0-9.-] segments, the pillar first:
	// kernels/indexer-logits-paged/page-edge/len-65/hopper-fp8.
	ID string
	// Claim is one sentence with MUST.
	Claim string
	// Catches names public bugs or catalogue rows that the case would have caught. A judge never reads it.
	Catches []string
	// Needs names what must be there: gpu, logprobs, cached-tokens, ...
	Needs []string
	// Cost is what running the case takes.
	Cost Cost
}

// Cost is an estimate made before a run. Zero fields cost nothing.
type Cost struct {
	Requests int // requests to an endpoint
	Tokens   int // prompt and completion tokens
	Elements int // output elements judged
}

// Plus adds two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Requests + d.Requests, c.Tokens + d.Tokens, c.Elements + d.Elements}
}

var segment = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// ValidID returns an error that says what is wrong with a case ID, or nil.
func ValidID(id string) error { return ValidPath("case ID", id) }

// ValidPath returns an error that says what is wrong with a slug path, which kind names, or nil: at least two segments
// of [a-z0-9.-] with a letter or digit at both ends, the pillar first.
func ValidPath(kind, path string) error {
	segs := strings.Split(path, "/")
	if len(segs) < 2 {
		return fmt.Errorf("%s %q needs at least two segments, the pillar first, as in fidelity/grid", kind, path)
	}
	for _, s := range segs {
		if !segment.MatchString(s) {
			return fmt.Errorf("%s %q has the segment %q: use lower-case letters, digits, dots and hyphens, with a letter or "+
				"digit at both ends", kind, path, s)
		}
	}
	return nil
}

// Validate returns everything that is wrong with the case, joined.
func (c Case) Validate() error {
	var errs []error
	if err := ValidID(c.ID); err != nil {
		errs = append(errs, err)
	}
	if !strings.Contains(c.Claim, "MUST") || strings.ContainsAny(c.Claim, "\n\r") {
		errs = append(errs, fmt.Errorf("case %q has the claim %q: write one sentence with MUST", c.ID, c.Claim))
	}
	if c.Cost.Requests < 0 || c.Cost.Tokens < 0 || c.Cost.Elements < 0 {
		errs = append(errs, fmt.Errorf("case %q has a negative cost %+v", c.ID, c.Cost))
	}
	return errors.Join(errs...)
}
