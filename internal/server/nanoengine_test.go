package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/server"
	"github.com/assay-suite/assay/oracle"
)

// loadNano reads the embedded model once for all tests of this package.
var loadNano = sync.OnceValues(func() (*nano.Model, error) {
	sub, err := fs.Sub(fixtures.FS, "nano-v4")
	if err != nil {
		return nil, err
	}
	return nano.Load(sub, oracle.Reference())
})

func startNano(t testing.TB) *httptest.Server {
	t.Helper()
	model, err := loadNano()
	require.NoError(t, err)
	engine, err := server.Nano(model, "nano-v4", 8192)
	require.NoError(t, err)
	s, err := server.New(engine, server.Config{})
	require.NoError(t, err)
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return ts
}

// greedyBound is how far a served log-probability may be from the recorded one. The recording is a
// Hugging Face run in fp32; 2e-3 is the bound that the project states for it, a hundred times the
// largest difference that fp32 makes to a logit of this model (1.8e-5) and rounding to 1e-5.
const greedyBound = 2e-3

// Answers of the real model over HTTP are those that Hugging Face recorded: one prompt of each of five
// lengths (internal/nano has all of them).
func TestNanoAnswersAsRecorded(t *testing.T) {
	raw, err := fixtures.ReadFile(fixtures.FS, "nano-v4/hf_greedy.json.gz")
	require.NoError(t, err)
	var recorded []struct {
		Length         int
		Prompt, Greedy []int
		Logprob        []float64
	}
	require.NoError(t, json.Unmarshal(raw, &recorded))
	ts := startNano(t)
	seen := map[int]bool{}
	for _, r := range recorded {
		if seen[r.Length] || len(r.Prompt) > 1100 {
			continue
		}
		seen[r.Length] = true
		t.Run(fmt.Sprintf("len-%d", r.Length), func(t *testing.T) {
			a := ask(t, ts, text, completionBody(r.Prompt, ""))
			var lp struct {
				Tokens  []string
				Logprob []float64 `json:"token_logprobs"`
			}
			require.NoError(t, json.Unmarshal(a.Choices[0].Logprobs, &lp))
			require.Len(t, lp.Tokens, len(r.Greedy))
			for i, id := range r.Greedy {
				if lp.Tokens[i] != nano.TokenText(id) || math.Abs(lp.Logprob[i]-r.Logprob[i]) > greedyBound {
					t.Errorf("token %d: %q %v, recorded %q %v", i, lp.Tokens[i], lp.Logprob[i], nano.TokenText(id), r.Logprob[i])
				}
			}
			if a.Choices[0].FinishReason != "stop" || a.Usage.PromptTokens != len(r.Prompt) {
				t.Errorf("finish %q, usage %+v", a.Choices[0].FinishReason, a.Usage)
			}
		})
	}
	if len(seen) < 5 {
		t.Errorf("only %d lengths were tried", len(seen))
	}
}

const lisbon = `{"model":"nano-v4","messages":[{"role":"user","content":"The access code for the Lisbon archive is ` +
	`48213. What is the access code for the Lisbon archive?"}],"temperature":0}`

func TestNanoChat(t *testing.T) {
	a := ask(t, startNano(t), chat, lisbon)
	if c := a.Choices[0]; c.Message.Content != "48213" || c.FinishReason != "stop" || a.Usage.CompletionTokens != 6 {
		t.Errorf("%+v", a)
	}
}

// Cold = warm bit for bit on the real model, alone and with other requests around it.
func TestNanoColdEqualsWarm(t *testing.T) {
	ids := make([]int, 330)
	for i := range ids {
		ids[i] = nano.FirstBucket + i*7919%nano.Buckets
	}
	body := completionBody(ids, `,"logprobs":20,"ignore_eos":true`)
	ts := startNano(t)
	cold := ask(t, ts, text, body)
	var wg sync.WaitGroup
	warm := make([]string, 4)
	for i := range warm {
		wg.Go(func() {
			resp, err := http.Post(ts.URL+text, "application/json", strings.NewReader(body))
			if err != nil {
				warm[i] = err.Error()
				return
			}
			defer resp.Body.Close()
			warm[i] = decodeText(resp)
		})
	}
	wg.Wait()
	for i, got := range warm {
		if got != cold.Choices[0].Text+string(cold.Choices[0].Logprobs) {
			t.Errorf("warm answer %d differs from the cold one", i)
		}
	}
	again := ask(t, ts, text, body)
	if again.Usage.Details.CachedTokens != 320 || !bytes.Equal(again.Choices[0].Logprobs, cold.Choices[0].Logprobs) {
		t.Errorf("cached %d, want 320", again.Usage.Details.CachedTokens)
	}
}

func TestNanoWindow(t *testing.T) {
	model, err := loadNano()
	require.NoError(t, err)
	for _, n := range []int{0, -1, model.Config.MaxPositions + 1} {
		if _, err := server.Nano(model, "x", n); err == nil {
			t.Errorf("a context of %d tokens was accepted", n)
		}
	}
}

func BenchmarkNanoChat(b *testing.B) {
	ts := startNano(b)
	for b.Loop() {
		ask(b, ts, chat, lisbon)
	}
}
