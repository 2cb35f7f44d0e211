package recall

import (
	"path"
	"regexp"
	"strings"
)

// Slug makes a name a part of a golden's: lower case, anything else than letters, digits and dots a hyphen.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
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

var (
	// hubCache is a folder of Hugging Face's cache, whose last element is a commit.
	hubCache = regexp.MustCompile(`(?:^|/)models--([^/]+)/snapshots/[0-9a-f]+/*$`)
	// folder is a path on the server's disk. "organisation/model" is none.
	folder = regexp.MustCompile(`^(?:/|~|\.{1,2}/|[A-Za-z]:/)`)
)

// Key is a model's name in its goldens, the same wherever its files lie: of a path the last element, of a folder in
// Hugging Face's cache the repository, of a GGUF file the name without its ending.
func Key(model string) string {
	p := strings.TrimRight(strings.ReplaceAll(model, `\`, "/"), "/")
	if m := hubCache.FindStringSubmatch(p); m != nil {
		p = strings.ReplaceAll(m[1], "--", "/")
	} else if folder.MatchString(p) {
		p = path.Base(p)
	}
	if name, is := strings.CutSuffix(p, ".gguf"); is {
		p = name
	}
	return Slug(p)
}

// GoldenFamily is the name of the golden of a model, as internal/golden wants it. The profile is the set of
// prompts, haystack and budget: with another haystack they are others, and pair with nothing recorded under this one.
func GoldenFamily(model, haystack string, b Budget) string { return familyOf(Key(model), haystack, b) }

func familyOf(key, haystack string, b Budget) string {
	return "fidelity/" + key + "/" + Profile(haystack, b)
}

// GoldenFamilies lists the goldens that serve a run, best first. A path was once a key as it stands, and such a golden
// is still found.
func GoldenFamilies(model, haystack string, b Budget) []string {
	keys := []string{Key(model)}
	if old := Slug(model); old != keys[0] {
		keys = append(keys, old)
	}
	var out []string
	for _, key := range keys {
		for _, p := range Profiles(b) {
			out = append(out, familyOf(key, haystack, p))
		}
	}
	return out
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
