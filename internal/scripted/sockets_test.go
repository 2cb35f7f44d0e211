package scripted_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

// onLoopback serves an engine on loopback; fresh is a client that opens a connection for each request.
func onLoopback(t *testing.T, o scripted.Options) (url string, fresh *http.Client) {
	t.Helper()
	s := httptest.NewServer(engine(t, o))
	t.Cleanup(s.Close)
	return s.URL, &http.Client{Transport: loopback{s.URL, &http.Transport{DisableKeepAlives: true}}}
}

// loopback sends what is meant for engine.test to a server.
type loopback struct {
	url  string
	next http.RoundTripper
}

func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Host = strings.TrimPrefix(l.url, "http://")
	return l.next.RoundTrip(out)
}

// What depends on company, on connections and on clients that leave must do so over sockets and a real clock, too.
func TestSockets(t *testing.T) {
	_, c := onLoopback(t, scripted.Options{Faults: []string{"cross-talk"}, Seed: 1})
	right := 0
	for i, r := range together(t, c, crowd(16, 150, "s")...) {
		if r.text == fmt.Sprint(50000+i*137) {
			right++
		}
	}
	if right == 16 {
		t.Error("cross-talk: 16 at once, and all have their own code")
	}
	_, c = onLoopback(t, scripted.Options{
		Faults: []string{"bad-replica"},
		Params: map[string]scripted.Params{"bad-replica": {"variant": 0, "replicas": 3}},
	})
	plus := 0
	for range 24 {
		if r := ask(t, c, user(lisbon+asked)); strings.HasPrefix(r.text, "++") {
			plus++
		} else if r.text != "48213" {
			t.Errorf("a good replica says %q", r.text)
		}
	}
	// Of 24 connections over 3 replicas: all or none on the bad one in (2/3)^24 = 6e-5.
	if plus == 0 || plus == 24 {
		t.Errorf("%d of 24 connections meet the bad replica", plus)
	}
	_, c = onLoopback(t, scripted.Options{
		Faults: []string{"abort-damage"},
		Params: map[string]scripted.Params{"abort-damage": {"percent": 100, "shows": 1}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := post(ctx, c, "/v1/chat/completions",
		with(with(user("Write 9000 words."), "max_tokens", 20000), "stream", true))
	require.NoError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, 500))
	require.NoError(t, err)
	cancel()
	resp.Body.Close()
	for range 200 { // the engine notices with its next write
		if r := ask(t, c, user(lisbon+asked)); strings.HasPrefix(r.text, "The ") {
			return
		}
	}
	t.Error("abort-damage: nobody was shown the cut answer")
}
