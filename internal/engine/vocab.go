package engine

import (
	"container/heap"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/assay-suite/assay/fixtures"
)

// vocab maps token ids to bytes. Ids 0 to 255 are the bytes, then come numbers, then merges by rank.
type vocab struct {
	text   []string
	rank   map[string]int32
	digits int // most digits in one token: 1 (Qwen, Gemma) or 3 (Llama 3, DeepSeek, GPT-4)
}

// merges trains byte pairs on the shipped book and a list of common words, once a process. It is the algorithm of
// Sennrich, Haddow and Birch (2016), section 3.2, on words with their leading blank.
var merges = sync.OnceValues(func() ([]string, error) {
	raw, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	if err != nil {
		return nil, fmt.Errorf("training the vocabulary: %w", err)
	}
	count := map[string]int{}
	for w := range strings.FieldsFuncSeq(string(raw), func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' }) {
		count[" "+w]++
		if w[0] <= 'Z' {
			count[w]++ // as it stands at the start of a message
		}
	}
	for w := range strings.FieldsSeq(commonWords) {
		count[" "+w] += 60
		count[strings.ToUpper(w[:1])+w[1:]] += 5
	}
	return train(count, 5200), nil
})

// pair is an entry of the heap of pairs; stale entries are skipped when popped.
type pair struct {
	a, b string
	n    int
}

type pairHeap []pair

func (h pairHeap) Len() int { return len(h) }
func (h pairHeap) Less(i, j int) bool {
	if h[i].n != h[j].n {
		return h[i].n > h[j].n
	}
	return h[i].a+"\x00"+h[i].b < h[j].a+"\x00"+h[j].b
}
func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pairHeap) Push(x any)   { *h = append(*h, x.(pair)) } //nolint:errcheck,forcetypeassert // heap of pairs
func (h *pairHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// train returns the merged strings in the order of their ranks.
func train(count map[string]int, most int) []string {
	words := make([]string, 0, len(count))
	for w := range count {
		words = append(words, w)
	}
	sort.Strings(words)
	parts := make([][]string, len(words))
	pairs := map[[2]string]int{}
	where := map[[2]string]map[int]bool{}
	add := func(a, b string, w, n int) {
		k := [2]string{a, b}
		pairs[k] += n
		if where[k] == nil {
			where[k] = map[int]bool{}
		}
		where[k][w] = true
	}
	for i, w := range words {
		for j := range len(w) {
			parts[i] = append(parts[i], w[j:j+1])
			if j > 0 {
				add(w[j-1:j], w[j:j+1], i, count[w])
			}
		}
	}
	h := &pairHeap{}
	for k, n := range pairs {
		*h = append(*h, pair{k[0], k[1], n})
	}
	heap.Init(h)
	var out []string
	seen := map[string]bool{}
	for h.Len() > 0 && len(out) < most {
		top, _ := heap.Pop(h).(pair)
		k := [2]string{top.a, top.b}
		if pairs[k] != top.n || top.n < 2 {
			continue // stale
		}
		if s := top.a + top.b; !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
		touched := map[[2]string]bool{}
		for i := range where[k] {
			old := parts[i]
			for j := 1; j < len(old); j++ {
				pairs[[2]string{old[j-1], old[j]}] -= count[words[i]]
				touched[[2]string{old[j-1], old[j]}] = true
			}
			fresh := old[:0:0]
			for j := 0; j < len(old); j++ {
				if j+1 < len(old) && old[j] == top.a && old[j+1] == top.b {
					fresh = append(fresh, top.a+top.b)
					j++
				} else {
					fresh = append(fresh, old[j])
				}
			}
			parts[i] = fresh
			for j := 1; j < len(fresh); j++ {
				add(fresh[j-1], fresh[j], i, count[words[i]])
				touched[[2]string{fresh[j-1], fresh[j]}] = true
			}
		}
		for t := range touched {
			if pairs[t] > 1 {
				heap.Push(h, pair{t[0], t[1], pairs[t]})
			}
		}
	}
	return out
}

var vocabs sync.Map // vocabKey to *vocab

type vocabKey struct{ merges, digits int }

// vocabOf returns the vocabulary with the first n merges.
func vocabOf(n, digits int) (*vocab, error) {
	key := vocabKey{n, digits}
	if v, ok := vocabs.Load(key); ok {
		return v.(*vocab), nil //nolint:errcheck,forcetypeassert // only vocabularies are stored
	}
	all, err := merges()
	if err != nil {
		return nil, err
	}
	v := &vocab{rank: map[string]int32{}, digits: digits}
	add := func(s string) {
		if _, ok := v.rank[s]; !ok {
			v.rank[s] = int32(len(v.text))
			v.text = append(v.text, s)
		}
	}
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	if digits > 1 {
		for i := range 1000 { // with leading zeros
			s := fmt.Sprintf("%03d", i)
			add(s[1:])
			add(s)
		}
	}
	for _, s := range []string{
		"\n\n", ".\n", "\u2019", "\u201c", "\u201d", "\u00e9", "\u00ef", "\xf0\x9f", "\xe6\x95", "\u00b7",
	} {
		add(s)
	}
	for _, s := range all[:min(n, len(all))] {
		add(s)
	}
	got, _ := vocabs.LoadOrStore(key, v)
	return got.(*vocab), nil //nolint:errcheck,forcetypeassert // only vocabularies are stored
}
