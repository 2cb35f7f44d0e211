package engine

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func tokenizers(tb testing.TB) []*tokenizer {
	tb.Helper()
	var out []*tokenizer
	for _, k := range []vocabKey{{3600, 1}, {5200, 3}} {
		v, err := vocabOf(k.merges, k.digits)
		require.NoError(tb, err)
		out = append(out, newTokenizer(v, soundTokens()))
	}
	return out
}

// Bytes come back as they went in, and no token holds more digits than the vocabulary says.
func TestTokensRoundTrip(t *testing.T) {
	for _, tk := range tokenizers(t) {
		rapid.Check(t, func(rt *rapid.T) {
			text := rapid.String().Draw(rt, "text") + rapid.SampledFrom([]string{
				"", " 数据 🙂", " 48213,  7",
				"\n\n The",
			}).Draw(rt, "tail")
			var b strings.Builder
			for _, id := range tk.encode(text) {
				b.WriteString(tk.v.text[id])
			}
			if b.String() != text {
				rt.Fatalf("%q came back as %q", text, b.String())
			}
		})
		for _, s := range tk.v.text {
			if allDigits(s) {
				assert.LessOrEqual(t, len(s), tk.v.digits)
			}
		}
	}
}

// The sizes of pieces are those of real vocabularies: about one token a common word, digits as declared.
func TestTokensOfKnownTexts(t *testing.T) {
	tks := tokenizers(t)
	for _, row := range []struct {
		text string
		want [2]int
	}{{"48213", [2]int{5, 2}}, {" garden", [2]int{1, 1}}, {" amber lantern market", [2]int{3, 3}}, {"", [2]int{0, 0}}} {
		for i, tk := range tks {
			assert.Len(t, tk.encode(row.text), row.want[i], "%q", row.text)
		}
	}
}

// What the detokeniser lets out is whole characters, and with the rest all of the text.
func TestDetokeniserHoldsBack(t *testing.T) {
	e := mustNew(t, Options{Seed: 1})
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.Rune()).Draw(rt, "text")
		d := detok{m: e.m}
		var out strings.Builder
		for _, id := range e.m.tok.encode(text) {
			piece := d.push(id, true)
			if !utf8.ValidString(piece) {
				rt.Fatalf("%q is let out of %q", piece, text)
			}
			out.WriteString(piece)
		}
		out.WriteString(d.flush())
		if out.String() != text {
			rt.Fatalf("%q came out as %q", text, out.String())
		}
	})
}

// A prefix cache never returns pages of other tokens, and its counts of holders come out even. The oracle is the list
// of everything that was inserted.
func TestCachesAgainstAList(t *testing.T) {
	for _, kind := range []string{"radix", "blocks"} {
		rapid.Check(t, func(rt *rapid.T) {
			size := rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "page")
			pl := newPool(64*size, size, rapid.Bool().Draw(rt, "lifo"))
			var c prefixCache = newBlockCache(pl, soundCache())
			if kind == "radix" {
				c = newRadixCache(pl, soundCache())
			}
			content := map[int32][]int32{} // what a page was given when it was taken
			for range rapid.IntRange(1, 30).Draw(rt, "requests") {
				ids := rapid.SliceOfN(rapid.Int32Range(0, 2), size, 9*size).Draw(rt, "ids")
				key := cacheKey{salt: rapid.Uint64Range(0, 1).Draw(rt, "salt")}
				table := slices.Clone(c.match(ids, key))
				if len(table)*size > len(ids) {
					rt.Fatalf("%d pages for %d tokens", len(table), len(ids))
				}
				for i, p := range table {
					if want := append([]int32{int32(key.salt)}, ids[:(i+1)*size]...); !slices.Equal(content[p], want) {
						rt.Fatalf("page %d holds %v, want %v", p, content[p], want)
					}
					pl.ref[p]++
				}
				need := len(ids)/size - len(table)
				if !c.evict(need, func(uint64, int32) {}) {
					rt.Fatalf("no room for %d pages of 64", need)
				}
				for len(table) < len(ids)/size {
					p, err := pl.take()
					if err != nil {
						rt.Fatal(err)
					}
					table = append(table, p)
					content[p] = append([]int32{int32(key.salt)}, ids[:len(table)*size]...)
				}
				c.insert(ids, key, table)
				for _, p := range table {
					pl.drop(p)
				}
			}
			c.flush()
			if len(pl.free) != 64 {
				rt.Fatalf("%d pages of 64 are free after a flush", len(pl.free))
			}
		})
	}
}

// Spans as sets of positions.
func TestSpans(t *testing.T) {
	member := func(s []span) (out [40]bool) {
		for _, x := range s {
			for i := x.lo; i < x.hi; i++ {
				out[i] = true
			}
		}
		return out
	}
	draw := func(rt *rapid.T, name string) []span {
		var out []span
		at := 0
		for at < 36 {
			lo := at + rapid.IntRange(0, 5).Draw(rt, name)
			hi := min(39, lo+rapid.IntRange(1, 6).Draw(rt, name))
			if lo >= hi {
				break
			}
			out = append(out, span{lo, hi})
			at = hi + 1
		}
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, z := draw(rt, "a"), draw(rt, "z")
		lo := rapid.IntRange(0, 38).Draw(rt, "lo")
		hi := rapid.IntRange(lo, 39).Draw(rt, "hi")
		x, y := member(a), member(z)
		both, less := member(meet(a, z)), member(without(a, lo, hi))
		for i := range both {
			if both[i] != (x[i] && y[i]) || less[i] != (x[i] && (i < lo || i >= hi)) {
				rt.Fatalf("at %d of %v, %v, [%d, %d)", i, a, z, lo, hi)
			}
		}
	})
}

// A stop string is found wherever tokens cut it, and nothing of it is let out.
func TestStopAcrossPieces(t *testing.T) {
	e := mustNew(t, Options{Seed: 1})
	rapid.Check(t, func(rt *rapid.T) {
		stop := rapid.SampledFrom([]string{"END", "abab", "\n\nUser"}).Draw(rt, "stop")
		before := rapid.StringMatching(`[abEND\n]{0,12}`).Draw(rt, "before")
		text := "x" + before + stop + "tail"
		a := e.m.assemble([]string{stop}, true, false)
		out := ""
		for i := range len(text) {
			out += a.push(emitted{tok: int32(text[i])}).content
		}
		out += a.finish().content
		want, _, _ := strings.Cut(text, stop)
		if out != want || !a.stopped {
			rt.Fatalf("%q came out of %q", out, text)
		}
	})
}

// Sampling follows the distribution: counts against exact probabilities, 5 standard deviations.
func TestDrawFollowsProbabilities(t *testing.T) {
	d := dist{cands: []alt{{1, 0}, {2, -0.7}, {3, -2}}}
	const n = 20000
	count := map[int32]float64{}
	for i := range n {
		count[draw(d, 1, 1, (float64(i)+0.5)/n)]++
	}
	z := 1 + 0.4965853037914095 + 0.1353352832366127 // exp of the logits
	for tok, p := range map[int32]float64{1: 1 / z, 2: 0.4965853037914095 / z, 3: 0.1353352832366127 / z} {
		assert.LessOrEqual(t, max(count[tok]/n-p, p-count[tok]/n), 2.0/n, "token %d",
			tok) // a grid of n points is off by one cell at each end
	}
	assert.Equal(t, int32(1), draw(d, 1, 0.5, 0.999))
}
