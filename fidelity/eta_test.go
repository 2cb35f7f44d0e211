package fidelity_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/endpoint"
)

// timed is a server with a speed: answers of the fake engine take the time that a real one would, by a simulated clock.
type timed struct {
	engine http.RoundTripper
	chats  atomic.Int64
	slot   chan struct{} // of capacity 1: one request after the other; nil: as many as come
	// seconds of a request for so many prompt and answer tokens, the n-th of the run
	took func(n int64, prompt, answer float64) float64
}

func (s *timed) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	res, err := s.engine.RoundTrip(r)
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		return res, err
	}
	var q struct {
		Max int `json:"max_tokens"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	if s.slot != nil {
		s.slot <- struct{}{}
		defer func() { <-s.slot }()
	}
	wait := s.took(s.chats.Add(1), float64(len(raw))/5.5, float64(min(q.Max, 40))) // a chatty model: 40 tokens
	time.Sleep(time.Duration(wait * float64(time.Second)))
	return res, nil
}

var about = regexp.MustCompile(`about (\d+) (s|min)`)

// promised reads "about 12 min" or "about 2 min 06 s left".
func promised(t *testing.T, line string) time.Duration {
	t.Helper()
	m := about.FindStringSubmatch(line)
	require.NotNil(t, m, line)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	if m[2] == "min" {
		return time.Duration(n) * time.Minute
	}
	return time.Duration(n) * time.Second
}

// The time in the plan MUST be right within a factor of two, whatever makes a server slow.
func TestTimeOfThePlan(t *testing.T) {
	for name, row := range map[string]struct {
		blind  bool // no tokenize route
		single bool // one slot
		took   func(n int64, prompt, answer float64) float64
	}{
		"a GPU: decoding takes the time": {
			took: func(_ int64, prompt, answer float64) float64 { return 0.03 + prompt/20000 + answer*0.012 },
		},
		"a CPU with one slot": {
			single: true, took: func(_ int64, prompt, answer float64) float64 { return prompt/250 + answer*0.08 },
		},
		"a CPU with one slot, without a tokenize route": {
			blind: true, single: true,
			took: func(_ int64, prompt, answer float64) float64 { return prompt/250 + answer*0.08 },
		},
		"attention that grows with the square": {
			single: true, took: func(_ int64, prompt, _ float64) float64 { return prompt/2000 + prompt*prompt/8e6 },
		},
		"a network far away": {took: func(int64, float64, float64) float64 { return 1.4 }},
		"kernels are compiled for the first two minutes": {
			took: func(n int64, _, answer float64) float64 {
				if n < 6 {
					return 20
				}
				return answer * 0.02
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &timed{engine: handler{&engine{noTokenize: row.blind}}, took: row.took}
				if row.single {
					s.slot = make(chan struct{}, 1)
				}
				j, out, _ := onTimed(t, s)
				var began time.Time
				j.Agree = func(string) bool { began = time.Now(); return true }
				_, err := j.Run(t.Context())
				require.NoError(t, err)
				took, said := time.Since(began), promised(t, out.String())
				assert.Less(t, took/2, said+time.Second/2, "planned %s, took %s\n%s", said, took, out)
				assert.Less(t, said, 2*took+time.Second/2, "planned %s, took %s\n%s", said, took, out)
			})
		})
	}
}

// So MUST that of a comparison, whose second server is slower than the first.
func TestTimeOfAComparison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speed := func(factor float64) *endpoint.Client {
			j, _, _ := onTimed(t, &timed{
				engine: handler{&engine{}}, took: func(_ int64, prompt, answer float64) float64 {
					return factor * (0.05 + prompt/3000 + answer*0.02)
				},
			})
			return j.Client
		}
		var out bytes.Buffer
		var began time.Time
		v := session.Versus{
			Before: speed(1), Now: speed(4), Haystack: haystack(t), Budget: recall.Smoke, Parallel: 2, Out: &out,
			Agree: func(string) bool { began = time.Now(); return true },
		}
		_, err := v.Run(t.Context())
		require.NoError(t, err)
		took, said := time.Since(began), promised(t, out.String())
		assert.Less(t, took/2, said, "planned %s, took %s\n%s", said, took, &out)
		assert.Less(t, said, 2*took, "planned %s, took %s\n%s", said, took, &out)
	})
}

// A server that becomes slower in the middle of a run MUST be said to, with a time that is right within a factor of two
// again; and whoever asks a slow server sees something in the first second.
func TestTimeIsSaidAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began, slower time.Time
		var once sync.Once // answers are given at the same time
		s := &timed{engine: handler{&engine{}}, took: func(n int64, prompt, answer float64) float64 {
			if n < 110 {
				return 0.5 + prompt/20000 + answer*0.012
			}
			once.Do(func() { slower = time.Now() })
			return 5 * (0.5 + prompt/20000 + answer*0.012)
		}}
		j, _, live := onTimed(t, s)
		began = time.Now()
		_, err := j.Run(t.Context())
		require.NoError(t, err)
		assert.Contains(t, live.lines[0].text, "pre-flight   asks engine.test what it can do")
		assert.Less(t, live.lines[0].at.Sub(began), time.Second)
		said := 0
		for _, l := range live.lines {
			if !strings.Contains(l.text, "answers take") {
				continue
			}
			said++
			assert.Greater(t, l.at, slower)
			left, is := promised(t, l.text), time.Since(l.at)
			assert.Less(t, is/2, left, "%s: %s left", l.text, is)
			assert.Less(t, left, 2*is, "%s: %s left", l.text, is)
		}
		assert.Equal(t, 1, said, live.lines)
	})
}

// stamped keeps when each line came.
type stamped struct {
	lines []struct {
		at   time.Time
		text string
	}
}

func (s *stamped) Write(p []byte) (int, error) {
	s.lines = append(s.lines, struct {
		at   time.Time
		text string
	}{time.Now(), string(p)})
	return len(p), nil
}

func onTimed(t *testing.T, s *timed) (session.Job, *bytes.Buffer, *stamped) {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: s, MaxInFlight: 4})
	require.NoError(t, err)
	var out bytes.Buffer
	var live stamped
	return session.Job{
		Title: "timed", Client: c, Haystack: haystack(t), Budget: recall.Standard, Parallel: 4, Out: &out, Live: &live,
	}, &out, &live
}
