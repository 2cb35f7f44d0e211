package needle_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// bucket is nano-v4's hash of unknown words, from fixtures/README.md.
func bucket(w string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w))
	return 64 + int(h.Sum32()%960)
}

// wordCount counts as nano-v4's tokenizer does in chat form: <bos> <user> text <assistant>.
func wordCount(_ context.Context, text string) (int, error) {
	n := 3
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		_ = f
		n++
	}
	for _, r := range text {
		if r >= '0' && r <= '9' || strings.ContainsRune(`.,?!:;'"()-`, r) {
			n++
		}
	}
	return n, nil
}

// pairCount behaves like a byte-pair tokenizer: long words take several tokens, digits go in threes,
// the chat frame has 27.
func pairCount(_ context.Context, text string) (int, error) {
	n := 27
	for f := range strings.FieldsSeq(text) {
		n += (len(f) + 4) / 5
		if strings.ContainsAny(f, ".,;:?") {
			n++
		}
	}
	return n, nil
}

// byteCount is a model on bytes.
func byteCount(_ context.Context, text string) (int, error) { return len(text), nil }

func TestLengthsAreMet(t *testing.T) {
	h := opticks(t)
	for _, c := range []struct {
		name     string
		count    needle.Counter
		lengths  []int
		maxCalls int
	}{
		{"words", wordCount, []int{96, 128, 256, 512, 1024, 1536, 2048, 4096, 8192, 32768, 100_000}, 1},
		{"byte pairs", pairCount, []int{128, 256, 512, 1024, 2048, 4096, 16384, 65536}, 4},
		{"bytes", byteCount, []int{2000, 5000, 40_000}, 6},
	} {
		for _, length := range c.lengths {
			for seed := range uint64(6) {
				s := needle.Spec{
					Case:   fmt.Sprintf("fidelity/recall/len-%d", length),
					Seed:   seed,
					Length: length,
					Depth:  float64(seed) / 5,
				}
				calls := 0
				b := needle.Builder{Haystack: h, Count: func(ctx context.Context, text string) (int, error) {
					calls++
					return c.count(ctx, text)
				}}
				p, err := b.Build(t.Context(), s)
				if err != nil {
					t.Errorf("%s, length %d, seed %d: %v", c.name, length, seed, err)
					continue
				}
				// The measured prompt itself, counted here for the first time.
				n, _ := c.count(t.Context(), p.Text)
				if off := math.Abs(float64(n - length)); off > math.Max(16, 0.02*float64(length))+2 {
					t.Errorf("%s, length %d, seed %d: %d tokens", c.name, length, seed, n)
				}
				if calls > c.maxCalls || p.Counts != calls {
					t.Errorf("%s, length %d, seed %d: %d counts, reported %d, want at most %d", c.name, length, seed, calls, p.Counts,
						c.maxCalls)
				}
			}
		}
	}
}

// checkPrompt takes a prompt apart again with nothing but its text and the haystack.
func checkPrompt(t *testing.T, h *needle.Haystack, p needle.Prompt, copies int) {
	t.Helper()
	sentence := fmt.Sprintf("The access code for the %s archive is %s.", p.Truth.Name, p.Truth.Code)
	if got := strings.Count(p.Text, sentence); got != copies || len(p.Copies) != copies {
		t.Errorf("%s: the needle stands %d times, %d places told, want %d", p.Spec.Case, got, len(p.Copies), copies)
	}
	for _, c := range p.Copies {
		if !strings.HasPrefix(p.Text[c.Byte:], sentence) {
			t.Errorf("%s: no needle at byte %d", p.Spec.Case, c.Byte)
		}
		before, _ := wordCount(t.Context(), p.Text[:c.Byte])
		total, _ := wordCount(t.Context(), p.Text)
		if math.Abs(float64(c.Before-before)) > 4 || math.Abs(float64(c.FromEnd-(total-before))) > 6 {
			t.Errorf("%s: place %+v, want %d before and %d to the end", p.Spec.Case, c, before, total-before)
		}
	}
	last := -1
	for _, i := range p.Filler {
		if i <= last {
			t.Errorf("%s: sentence %d after %d: out of order or twice", p.Spec.Case, i, last)
		}
		last = i
		if strings.Count(p.Text, h.Sentences[i]) < 1 {
			t.Errorf("%s: sentence %d is cut", p.Spec.Case, i)
		}
	}
	rest := p.Text
	for _, i := range p.Filler {
		rest = strings.Replace(rest, h.Sentences[i], "", 1)
	}
	rest = strings.ReplaceAll(rest, sentence, "")
	if n := len(strings.Fields(rest)); n > 4+14+10*len(p.Truth.Others) {
		t.Errorf("%s: besides nonce, needle, filler and question there is %q", p.Spec.Case, rest)
	}
	if h.HasNumber(p.Truth.Code) {
		t.Errorf("%s: the code %s is a number of the haystack", p.Spec.Case, p.Truth.Code)
	}
}

func TestPlacements(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: wordCount, Bucket: bucket}
	for _, length := range []int{128, 384, 770, 2048} {
		for seed := range uint64(5) {
			for _, depth := range []float64{0, 0.25, 0.5, 0.75, 1} {
				p, err := b.Build(t.Context(), needle.Spec{Case: "fidelity/depth", Seed: seed, Length: length, Depth: depth})
				require.NoError(t, err)
				checkPrompt(t, h, p, 1)
				// A boundary lies within half of the longest sentence used.
				longest := 0
				for _, i := range p.Filler {
					longest = max(longest, needle.Units(h.Sentences[i]))
				}
				filler := needle.Units(p.Truth.Haystack)
				got := float64(p.Copies[0].Before - 8)
				if math.Abs(got-depth*float64(filler)) > float64(longest)/2+4 {
					t.Errorf("length %d depth %v: %v of %d tokens stand before, longest sentence %d", length, depth, got, filler,
						longest)
				}
			}
			if length < 384 {
				continue // eight copies alone take 112 tokens
			}
			for _, s := range needle.WindowTest(needle.Spec{Case: "fidelity/window", Seed: seed}, 128, length, 100) {
				p, err := b.Build(t.Context(), s)
				require.NoError(t, err)
				copies := 1
				c := p.Copies[0]
				switch s.Case {
				case "fidelity/window/tail":
					if c.FromEnd > 32 {
						t.Errorf("tail: needle begins %d tokens from the end, want at most nano's window of 32", c.FromEnd)
					}
				case "fidelity/window/just-inside":
					if c.FromEnd > 128 || c.FromEnd < 64 && length > 200 {
						t.Errorf("just inside 128: needle begins %d tokens from the end", c.FromEnd)
					}
				case "fidelity/window/start", "fidelity/window/short":
					if c.Before > 9 {
						t.Errorf("%s: %d tokens before", s.Case, c.Before)
					}
				case "fidelity/window/repeated-x8":
					copies = 8
					if far := p.Copies[7].FromEnd; length >= 770 && far < 64 {
						t.Errorf("repeated: the last copy begins only %d tokens from the end", far)
					}
				default:
					t.Errorf("case %q", s.Case)
				}
				checkPrompt(t, h, p, copies)
			}
		}
	}
}

func TestPromptIsAPureFunction(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: wordCount, Bucket: bucket}
	build := func(s needle.Spec) needle.Prompt {
		p, err := b.Build(t.Context(), s)
		require.NoError(t, err)
		return p
	}
	base := needle.Spec{Case: "fidelity/a", Seed: 1, Length: 300, Depth: 0.5}
	one := build(base)
	_ = build(needle.Spec{Case: "fidelity/other", Seed: 9, Length: 900})
	if diff := cmp.Diff(one, build(base)); diff != "" {
		t.Errorf("built twice, it differs: %s", diff)
	}
	salted := base
	salted.Nonce = "run-2"
	other := build(salted)
	if strings.Fields(one.Text)[0] == strings.Fields(other.Text)[0] {
		t.Errorf("another nonce begins with the same word %q", strings.Fields(one.Text)[0])
	}
	if diff := cmp.Diff(one.Truth, other.Truth); diff != "" {
		t.Errorf("another nonce changes the question: %s", diff)
	}
	// 40 cases: stretches, names and codes must vary.
	starts, names, codes, firsts := map[int]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range 40 {
		p := build(needle.Spec{Case: fmt.Sprintf("fidelity/c-%d", i), Seed: 1, Length: 300, Depth: 0.5})
		starts[p.Start], names[p.Truth.Name], codes[p.Truth.Code] = true, true, true
		firsts[strings.Fields(p.Text)[0]] = true
	}
	if len(starts) < 36 || len(names) < 20 || len(codes) != 40 || len(firsts) < 25 {
		t.Errorf("40 cases have %d starts, %d names, %d codes, %d first words", len(starts), len(names), len(codes),
			len(firsts))
	}
}

func TestCounterNeverSeesThePrompt(t *testing.T) {
	h := opticks(t)
	for _, count := range []needle.Counter{wordCount, pairCount} {
		var seen []string
		b := needle.Builder{Haystack: h, Count: func(ctx context.Context, text string) (int, error) {
			seen = append(seen, text)
			return count(ctx, text)
		}}
		p, err := b.Build(t.Context(), needle.Spec{Case: "fidelity/cold", Length: 1000, Depth: 0.3})
		require.NoError(t, err)
		for _, s := range seen {
			if strings.Fields(s)[0] == strings.Fields(p.Text)[0] {
				t.Errorf("a count began with the measured prompt's first word %q", strings.Fields(s)[0])
			}
		}
	}
}

func TestNanoNamesDoNotCollide(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: wordCount, Bucket: bucket}
	naive := 0
	for i := range 60 {
		p, err := b.Build(t.Context(), needle.Spec{Case: fmt.Sprintf("fidelity/n-%d", i), Length: 1024, Depth: 0.5})
		require.NoError(t, err)
		// Counted by hand over the words of the prompt.
		mine, hits := bucket(strings.ToLower(p.Truth.Name)), 0
		for _, w := range strings.FieldsFunc(strings.ToLower(p.Text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if w != strings.ToLower(p.Truth.Name) && bucket(w) == mine {
				hits++
			}
		}
		if hits != 0 || p.Collisions != 0 {
			t.Errorf("case %d: %s collides with %d words (told %d)", i, p.Truth.Name, hits, p.Collisions)
		}
		// The planted fault: without the check, collisions come.
		q, err := needle.Builder{Haystack: h, Count: wordCount}.Build(t.Context(), p.Spec)
		require.NoError(t, err)
		if needle.Collides(q.Truth.Name, q.Truth.Haystack, bucket) {
			naive++
		}
	}
	if naive < 5 {
		t.Errorf("without the check only %d of 60 names collide: the check is not exercised", naive)
	}
}

func TestFurtherNeedles(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: wordCount, Bucket: bucket}
	p, err := b.Build(t.Context(), needle.Spec{Case: "fidelity/others", Length: 900, Depth: 0.5, Others: 5})
	require.NoError(t, err)
	checkPrompt(t, h, p, 1)
	if len(p.Truth.Others) != 5 || strings.Count(p.Text, "archive is") != 6 {
		t.Errorf("%d other codes, %d needles in the text", len(p.Truth.Others), strings.Count(p.Text, "archive is"))
	}
	for _, o := range p.Truth.Others {
		same := 0
		for i := range o {
			if o[i] == p.Truth.Code[i] {
				same++
			}
		}
		if same > 2 {
			t.Errorf("codes %s and %s agree in %d places", o, p.Truth.Code, same)
		}
	}
}

func TestCalibrate(t *testing.T) {
	h := opticks(t)
	b := needle.Builder{Haystack: h, Count: pairCount}
	ratio, err := b.Calibrate(t.Context(), 2000)
	require.NoError(t, err)
	counts := func(b needle.Builder) int {
		total := 0
		for seed := range uint64(10) {
			p, err := b.Build(t.Context(), needle.Spec{Case: "fidelity/calibrated", Seed: seed, Length: 4096})
			require.NoError(t, err)
			total += p.Counts
		}
		return total
	}
	before := counts(b)
	b.TokensPerUnit = ratio
	if after := counts(b); after >= before {
		t.Errorf("10 prompts take %d counts with and %d without calibration", after, before)
	}
	if _, err := b.Calibrate(t.Context(), 0); err == nil {
		t.Error("calibrates on nothing")
	}
}

func BenchmarkBuild(b *testing.B) {
	h := opticks(b)
	builder := needle.Builder{Haystack: h, Count: wordCount, Bucket: bucket}
	for b.Loop() {
		if _, err := builder.Build(b.Context(), needle.Spec{Case: "bench", Length: 4096, Depth: 0.5}); err != nil {
			b.Fatal(err)
		}
	}
}
