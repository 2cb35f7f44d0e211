package recall

import "strings"

// Slug makes a model name the name of a golden: lower case, anything else than letters, digits and
// dots a hyphen.
func Slug(model string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(model) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-.")
	if s == "" {
		return "unnamed"
	}
	return s
}

// GoldenFamily is the name of the golden of a model, as internal/golden wants it. The profile is the set of
// prompts, haystack and budget: with another haystack they are others, and pair with nothing recorded under this one.
func GoldenFamily(model, haystack string, b Budget) string {
	return "fidelity/" + Slug(model) + "/" + Profile(haystack, b)
}

// Profile is the last part of a golden's name.
func Profile(haystack string, b Budget) string {
	if b == "" {
		b = Standard
	}
	return Slug(haystack) + "-" + string(b)
}

// Profiles lists the budgets whose golden serves a run, best first: its own, then the larger ones, which hold its
// cells, then the smaller ones, of which part of its cells can be paired.
func Profiles(b Budget) []Budget {
	switch b {
	case Smoke:
		return []Budget{Smoke, Standard, Full}
	case Full:
		return []Budget{Full, Standard, Smoke}
	}
	return []Budget{Standard, Full, Smoke}
}
