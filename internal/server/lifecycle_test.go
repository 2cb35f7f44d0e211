package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

// patience bounds waits for things that must happen; nothing is measured by it.
const patience = 20 * time.Second

func eventually(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not happen within %v", what, patience)
	}
}

// 16 at once must answer as one by one, and never run more engine steps at once than allowed.
func TestConcurrentEqualsSerial(t *testing.T) {
	const n = 16
	bodies := make([]string, n)
	want := make([]string, n)
	serial := start(t, &fakeEngine{}, server.Config{CacheTokens: -1})
	for i := range bodies {
		// Lengths around the grid, heads shared between some of them.
		bodies[i] = completionBody(idPrompt(100+37*i, i/4), fmt.Sprintf(`,"seed":%d,"temperature":%d`, i, i%2))
		a := ask(t, serial, text, bodies[i])
		want[i] = a.Choices[0].Text + string(a.Choices[0].Logprobs)
	}
	e := &fakeEngine{}
	ts := start(t, e, server.Config{Parallel: 3})
	for round := range 3 { // the first fills the cache, the others hit it
		var wg sync.WaitGroup
		got := make([]string, n)
		for i := range bodies {
			wg.Go(func() {
				resp, err := http.Post(ts.URL+text, "application/json", strings.NewReader(bodies[i]))
				if err != nil {
					got[i] = err.Error()
					return
				}
				defer resp.Body.Close()
				got[i] = decodeText(resp)
			})
		}
		wg.Wait()
		for i := range bodies {
			if got[i] != want[i] {
				t.Errorf("round %d, request %d: got %s, alone %s", round, i, got[i], want[i])
			}
		}
	}
	if peak := e.peak.Load(); peak > 3 {
		t.Errorf("%d engine steps ran at once, limit 3", peak)
	}
}

// A client that goes away must stop the engine between two steps.
func TestClientGone(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream-%v", stream), func(t *testing.T) {
			e := &fakeEngine{entered: make(chan struct{})}
			ts := start(t, e, server.Config{MaxRequests: 1})
			ctx, cancel := context.WithCancel(context.Background())
			body := completionBody(idPrompt(100, 0), fmt.Sprintf(`,"ignore_eos":true,"max_tokens":1500,"stream":%v`, stream))
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, ts.URL+text, strings.NewReader(body))
			require.NoError(t, err)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if resp, err := http.DefaultClient.Do(req); err == nil {
					<-ctx.Done()
					resp.Body.Close()
				}
			}()
			for range 5 { // two prefill chunks and some tokens
				eventually(t, "an engine step", e.entered)
			}
			cancel()
			eventually(t, "the client's end", gone)
			// The only slot comes free without the remaining 1,500 steps being let through.
			awaitStatus(t, ts, http.StatusNotFound)
			if n := e.tokens.Load(); n > 200 {
				t.Errorf("the engine took in %d tokens", n)
			}
		})
	}
}

// awaitStatus asks until a request that is refused either way, without an engine step, is refused for
// the wanted reason: 503 while all slots are taken, else 404.
func awaitStatus(t *testing.T, ts *httptest.Server, want int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		status, _, _ := call(t, ts, text, `{"model":"other","prompt":[20]}`)
		if status == want {
			return
		}
		require.True(t, time.Now().Before(deadline), "still %d, not %d, after %v", status, want, patience)
	}
}

// A client that goes away while its request waits for the engine frees its slot at once.
func TestClientGoneWhileWaiting(t *testing.T) {
	e := &fakeEngine{entered: make(chan struct{}), gate: make(chan struct{})}
	ts := start(t, e, server.Config{MaxRequests: 2, Parallel: 1})
	post := func(ctx context.Context) chan struct{} {
		done := make(chan struct{})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, ts.URL+text,
			strings.NewReader(`{"prompt":[20],"max_tokens":1}`))
		require.NoError(t, err)
		go func() {
			defer close(done)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		return done
	}
	first := post(context.Background())
	eventually(t, "the first request", e.entered)
	ctx, cancel := context.WithCancel(context.Background())
	second := post(ctx)
	awaitStatus(t, ts, http.StatusServiceUnavailable)
	cancel()
	eventually(t, "the second client's end", second)
	awaitStatus(t, ts, http.StatusNotFound)
	close(e.gate)
	eventually(t, "the first answer", first)
}

func TestOverload(t *testing.T) {
	e := &fakeEngine{entered: make(chan struct{}), gate: make(chan struct{})}
	ts := start(t, e, server.Config{MaxRequests: 1})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.Post(ts.URL+text, "application/json",
			strings.NewReader(`{"prompt":[20],"max_tokens":1}`)); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "the first request", e.entered)
	status, header, data := call(t, ts, text, `{"prompt":[20],"max_tokens":1}`)
	if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(string(data), "overloaded") {
		t.Errorf("%d %v %s", status, header, data)
	}
	if status, _, _ := call(t, ts, "/tokenize", `{"prompt":"a"}`); status != 200 {
		t.Errorf("/tokenize while busy: %d", status)
	}
	close(e.gate)
	eventually(t, "the first answer", done)
}

// listen serves e by Server.Serve and returns its URL, the stop and the result.
func listen(t *testing.T, e *fakeEngine, drain time.Duration) (url string, stop context.CancelFunc, result chan error) {
	t.Helper()
	e.window = 2048
	s, err := server.New(e, server.Config{Drain: drain})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	result = make(chan error, 1)
	go func() { result <- s.Serve(ctx, ln) }()
	t.Cleanup(stop)
	return "http://" + ln.Addr().String(), stop, result
}

func await(t *testing.T, result chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		t.Fatalf("Serve did not return within %v", patience)
		return nil
	}
}

func TestShutdownDrains(t *testing.T) {
	e := &fakeEngine{entered: make(chan struct{}), gate: make(chan struct{})}
	url, stop, result := listen(t, e, patience)
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(url+text, "application/json", strings.NewReader(`{"prompt":[20],"max_tokens":1}`))
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	eventually(t, "the request", e.entered)
	stop()
	// The listener closes while the request still waits for its engine step.
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			break
		}
		conn.Close()
		require.True(t, time.Now().Before(deadline), "the listener stays open")
	}
	close(e.gate)
	if got := <-status; got != 200 {
		t.Errorf("the request in flight got %d, want 200", got)
	}
	if err := await(t, result); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestShutdownDeadline(t *testing.T) {
	e := &fakeEngine{entered: make(chan struct{}), gate: make(chan struct{})} // the gate never opens
	url, stop, result := listen(t, e, time.Millisecond)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	body := `{"prompt":[20],"max_tokens":1}`
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", text, len(body), body)
	require.NoError(t, err)
	eventually(t, "the request", e.entered)
	// A byte of a second request behind the first blinds net/http to the closing of the connection.
	_, err = conn.Write([]byte("P"))
	require.NoError(t, err)
	stop()
	if err := await(t, result); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("Serve: %v, want to hear that a request was cut off", err)
	}
	if n := e.inside.Load(); n != 0 {
		t.Errorf("%d engine steps run after Serve returned", n)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]server.Config{
		"step off the grid": {Chunk: 64, CacheStep: 100}, "negative chunk": {Chunk: -1}, "no requests": {MaxRequests: -1},
		"no steps": {Parallel: -2},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := server.New(&fakeEngine{window: 10}, cfg); err == nil {
				t.Error("accepted")
			}
		})
	}
}
