package engine

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// post sends a chat and returns the body.
func post(tb testing.TB, c *http.Client, path, body string) string {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://engine"+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

func BenchmarkRequest8K(b *testing.B) {
	e, err := New(Options{Seed: 2, Sound: "plain"})
	if err != nil {
		b.Fatal(err)
	}
	c := &http.Client{Transport: e.Transport()}
	filler := strings.Repeat("The light falls upon the glass and is refracted toward the wall behind it. ", 500)
	for i := 0; b.Loop(); i++ {
		text := fmt.Sprintf("Run %d. %s The access code for the Lisbon archive is 48213. %s What is the access code for "+
			"the Lisbon "+
			"archive?", i, filler[:len(filler)/2], filler[len(filler)/2:])
		out := post(b, c, "/v1/chat/completions",
			fmt.Sprintf(`{"temperature":0,"max_tokens":32,"messages":[{"role":"user","content":%q}]}`, text))
		if !strings.Contains(out, "48213") {
			b.Fatal(out)
		}
		if i == 0 {
			b.Log(out)
		}
	}
}
