package probe

import (
	"hash/fnv"
	"strings"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// recall judges by what was planted.
func recall(truth needle.Truth) func(endpoint.Answer) Verdict {
	return func(a endpoint.Answer) Verdict {
		return graded(a, truth)
	}
}

// graded is the class of an answer. Nothing but markers of turns is junk and not an empty answer.
func graded(a endpoint.Answer, truth needle.Truth) Verdict {
	class := needle.Classify(answerOf(a), truth)
	if class == needle.Empty && strings.Contains(a.Text, "<|") {
		class = needle.Junk
	}
	v := Verdict{Class: string(class), Right: class.Recalled(), Measured: class.Measured()}
	if truth.Kind == "" || truth.Kind == needle.Digits {
		v.Marks = marked(a, truth.Code)
	} else {
		v.Marks = marked(a, "")
	}
	return v
}

// nowhere is a code that no prompt has: its truth tells the classes of answers that are no codes.
const nowhere = "90817263"

// holds judges by words that the answer must contain, case aside.
func holds(want ...string) func(endpoint.Answer) Verdict {
	return func(a endpoint.Answer) Verdict {
		text := strings.ToLower(needle.Visible(a.Text))
		for _, w := range want {
			if !strings.Contains(text, strings.ToLower(w)) {
				v := graded(a, needle.Truth{Code: nowhere})
				v.Marks = marked(a, want[0])
				return v
			}
		}
		return Verdict{Class: string(needle.Exact), Right: true, Measured: true, Marks: marked(a, "")}
	}
}

// word is a word that no vocabulary has, drawn from the salt and the parts: the first characters of a prompt that is to
// be new to every cache.
func (s salt) word(parts ...string) string {
	h := s.hash(parts...)
	var b strings.Builder
	for range 4 {
		b.WriteByte("bdfgklmnprstvz"[h%14])
		h /= 14
		b.WriteByte("aeiou"[h%5])
		h /= 5
	}
	w := b.String()
	return strings.ToUpper(w[:1]) + w[1:]
}

// code is five digits that no habit of a model produces, drawn from the salt and the parts.
func (s salt) code(parts ...string) string {
	h := s.hash(append(parts, "code")...)
	out := make([]byte, 0, 5)
	var used [256]bool
	for len(out) < 5 {
		h = h*6364136223846793005 + 1442695040888963407
		d := '0' + byte(h>>40%10)
		if used[d] || len(out) == 0 && d == '0' {
			continue
		}
		used[d] = true
		out = append(out, d)
	}
	return string(out)
}

// name is one of the cities that needles are named after.
func (s salt) name(parts ...string) string {
	names := needle.Names()
	return names[s.hash(append(parts, "name")...)%uint64(len(names))]
}

func (s salt) hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range append([]string{s.nonce, s.id}, parts...) {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	x := h.Sum64() // mixed, since the low bits of FNV follow the last byte
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// either is right where one of two judges says so, and the first one's verdict else.
func either(a, b func(endpoint.Answer) Verdict) func(endpoint.Answer) Verdict {
	return func(x endpoint.Answer) Verdict {
		if v := b(x); v.Right {
			return v
		}
		return a(x)
	}
}
