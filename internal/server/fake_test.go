package server_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/assay-suite/assay/internal/server"
)

// fakeEngine is a deterministic model whose logits are a hash of the context AND of how the context was
// cut into Extend calls. A prefix cache that resumes off the prefill grid therefore changes every
// number: the engine is a planted fault for the cold = warm claim.
type fakeEngine struct {
	window   int
	gate     chan struct{} // when set, every Extend takes one value first
	entered  chan struct{} // when set, every Extend says that it started
	poison   float64       // when not 0, logit 7 of every row from poisonAt on
	poisonAt int
	tokens   atomic.Int64 // taken in by all Extend calls
	inside   atomic.Int64 // Extend calls running now
	peak     atomic.Int64
}

const (
	fakeVocab = 64
	fakeBOS   = 0
	fakeEOS   = 1
	fakeWords = 16 // first id of a word
)

func (e *fakeEngine) Name() string     { return "fake" }
func (e *fakeEngine) MaxModelLen() int { return e.window }
func (e *fakeEngine) Vocab() int       { return fakeVocab }
func (e *fakeEngine) BOS() int         { return fakeBOS }
func (e *fakeEngine) EOS() int         { return fakeEOS }

func (e *fakeEngine) Special(id int) bool { return id < 5 }

func (e *fakeEngine) Encode(text string) []int {
	var ids []int
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if len(word) == 1 && word[0] >= '0' && word[0] <= '9' {
			ids = append(ids, 6+int(word[0]-'0'))
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(word))
		ids = append(ids, fakeWords+int(h.Sum32()%(fakeVocab-fakeWords)))
	}
	return ids
}

func (e *fakeEngine) EncodeChat(messages []server.Message) ([]int, error) {
	ids := []int{fakeBOS}
	for _, m := range messages {
		role, ok := map[string]int{"user": 2, "assistant": 3, "system": 4}[m.Role]
		if !ok {
			return nil, fmt.Errorf("unknown role %q", m.Role)
		}
		ids = append(append(ids, role), e.Encode(m.Content)...)
	}
	if messages[len(messages)-1].Role == "assistant" {
		return nil, errors.New("the last turn is the assistant's own")
	}
	return append(ids, 3), nil
}

func (e *fakeEngine) TokenText(id int) string {
	switch {
	case id < 5:
		return [...]string{"<bos>", "<eos>", "<user>", "<assistant>", "<system>"}[id]
	case id == 5:
		return "\n"
	case id < fakeWords:
		return fmt.Sprint(id - 6)
	default:
		return fmt.Sprintf(" w%d", id-fakeWords)
	}
}

func (e *fakeEngine) NewState() server.State { return &fakeState{engine: e, hash: 1} }

type fakeState struct {
	engine *fakeEngine
	hash   uint64
	length int
}

func mix(h, v uint64) uint64 {
	h ^= v + 0x9e3779b97f4a7c15 + h<<6 + h>>2
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

func (s *fakeState) Len() int            { return s.length }
func (s *fakeState) Clone() server.State { c := *s; return &c }

func (s *fakeState) Extend(ctx context.Context, ids []int, last int) ([][]float64, error) {
	e := s.engine
	now := e.inside.Add(1)
	defer e.inside.Add(-1)
	for peak := e.peak.Load(); now > peak && !e.peak.CompareAndSwap(peak, now); peak = e.peak.Load() {
	}
	if e.entered != nil {
		select {
		case e.entered <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if e.gate != nil {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.hash = mix(s.hash, 0xc0ffee) // the cut
	var rows [][]float64
	for i, id := range ids {
		s.hash = mix(s.hash, uint64(id))
		s.length++
		if i >= len(ids)-last {
			rows = append(rows, s.row())
		}
	}
	e.tokens.Add(int64(len(ids)))
	return rows, nil
}

// row spreads a few nats of noise; about one context in ten ends the answer.
func (s *fakeState) row() []float64 {
	rng := rand.New(rand.NewPCG(s.hash, 0))
	row := make([]float64, fakeVocab)
	for i := range row {
		row[i] = 2 * rng.NormFloat64()
	}
	row[fakeEOS] -= 6
	if s.hash%10 == 0 {
		row[fakeEOS] += 20
	}
	if s.engine.poison != 0 && s.length >= s.engine.poisonAt {
		row[7] = s.engine.poison
	}
	return row
}

// reference answers a prompt by the definition, without server code: prefill on the grid of 64 tokens,
// then one token at a time, greedily; log-probabilities as log(exp(x) / sum exp).
func reference(e *fakeEngine, prompt []int, maxTokens int) (ids []int, logprobs []float64) {
	st := e.NewState()
	var row []float64
	for i := 0; i < len(prompt); i += 64 {
		rows, _ := st.Extend(context.Background(), prompt[i:min(i+64, len(prompt))], 1)
		row = rows[0]
	}
	for {
		best := 0
		var sum float64
		for id, l := range row {
			sum += math.Exp(l)
			if l > row[best] {
				best = id
			}
		}
		ids = append(ids, best)
		logprobs = append(logprobs, math.Log(math.Exp(row[best])/sum))
		if best == fakeEOS || len(ids) == maxTokens {
			return ids, logprobs
		}
		rows, _ := st.Extend(context.Background(), []int{best}, 1)
		row = rows[0]
	}
}

// text is the concatenation of the visible tokens.
func (e *fakeEngine) text(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		if !e.Special(id) {
			b.WriteString(e.TokenText(id))
		}
	}
	return b.String()
}

// sameLogprob allows the rounding of the two ways to a log-probability: a sum of n exponentials has
// relative error (n+2) u either way, an exp or log of the library 1 ulp, and the logit's own size
// enters through exp's argument; u = 2^-53.
func sameLogprob(a, b float64) bool {
	const u = 1.0 / (1 << 53)
	return math.Abs(a-b) <= 2*(fakeVocab+8)*u*math.Max(1, math.Max(math.Abs(a), 16))
}
