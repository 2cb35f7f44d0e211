//go:build unix

package endpoint

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// cpu is the processor time of this process so far, user and system.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkClientCPU is the client's own processor time a request, without a server and without sockets: the answers
// are recorded bytes. Everything of the process counts, the collector too.
func BenchmarkClientCPU(b *testing.B) {
	answer := func(stream bool) (body, kind string) {
		s, err := wire.New(wire.Options{})
		require.NoError(b, err)
		c, err := New(Options{BaseURL: "http://wire.test", Model: "wire", Transport: s.Transport()})
		require.NoError(b, err)
		a, err := c.Chat(b.Context(), ChatRequest{
			Messages: ask("What is the code?"),
			Sampling: Sampling{MaxTokens: 32, TopLogprobs: 20, Stream: stream},
		})
		require.NoError(b, err)
		if stream {
			return string(a.Exchange.Response), "text/event-stream"
		}
		return string(a.Exchange.Response), "application/json"
	}
	for _, row := range []struct {
		name   string
		stream bool
		bytes  int // of the prompt; 128 KiB are about 32,000 tokens
	}{
		{"whole-1k", false, 1 << 10},
		{"stream-1k", true, 1 << 10},
		{"whole-128k", false, 128 << 10},
		{"stream-128k", true, 128 << 10},
	} {
		b.Run(row.name, func(b *testing.B) {
			body, kind := answer(row.stream)
			c, err := New(Options{
				BaseURL: "http://wire.test",
				APIKey:  "sk-0123456789",
				Model:   "wire",
				Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					return respond(200, http.Header{"Content-Type": {kind}}, strings.NewReader(body)), nil
				}),
			})
			require.NoError(b, err)
			r := ChatRequest{
				Messages: ask(strings.Repeat("some words ", row.bytes/11)),
				Sampling: Sampling{MaxTokens: 32, TopLogprobs: 20, Stream: row.stream},
			}
			began := cpu(b)
			for b.Loop() {
				if _, err := c.Chat(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N)/1e6, "cpu-ms/req")
		})
	}
}

// BenchmarkThousandRequests sends 1,000 requests, 64 at once, to an endpoint that answers after 50 ms, over sockets of
// this machine, server included. The ideal is 16 rounds of 50 ms.
func BenchmarkThousandRequests(b *testing.B) {
	const requests, atOnce, delay = 1000, 64, 50 * time.Millisecond
	ideal := time.Duration((requests+atOnce-1)/atOnce) * delay
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(delay):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(plainAnswer))
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	c, err := New(Options{BaseURL: srv.URL, Model: "m", MaxInFlight: atOnce})
	require.NoError(b, err)
	var took, used time.Duration
	for b.Loop() {
		began, busy := time.Now(), cpu(b)
		var all sync.WaitGroup
		for range requests {
			all.Go(func() {
				if _, err := c.Chat(b.Context(), hello()); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		took, used = took+time.Since(began), used+cpu(b)-busy
	}
	b.ReportMetric(float64(took)/float64(b.N)/float64(ideal), "x-ideal")
	b.ReportMetric(float64(used)/float64(b.N)/requests/1e6, "cpu-ms/req-with-server")
}
