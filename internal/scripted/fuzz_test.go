package scripted_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/scripted"
)

// Whatever is sent, with every fault at once, the engine answers with a status of its own and does not panic.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"messages":[]}`, `null`, `[`, `{"messages":[{"role":"user","content":""}]}`,
		`{"messages":[{"role":"user"}],"stream":true}`,
		`{"messages":[{"role":"user","content":"What is the access code for ?"}],"max_tokens":1}`,
		`{"messages":[{"role":"assistant","content":"<think>"},{"role":"user","content":"Repeat the line that starts with ` +
			`\"\"."}],"n":3}`,
		`{"messages":[{"role":"tool","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}],` +
			`"tools":[{"function":{"parameters":{"properties":[1]}}}]}`,
		`{"messages":[{"role":"user","content":"Call save with ` + "``````" +
			` =  is  with "}],"tools":[{"function":{"name":"save"}}],"stream":true}`,
		`{"prompt":"","max_tokens":3,"logprobs":2,"echo":true}`, `{"prompt":[1,2],"logprobs":1}`,
		`{"prompt":["a","b"],"stop":["",". "]}`,
		`{"messages":[{"role":"user","content":"Lisbon is Lisbon = \ufffd: 0. Write a numbered list of 99999 items, then ` +
			`Lisbon?"}],"max_tokens":9}`,
		`{"messages":[{"role":"user","content":"How many times does the word  appear? What was the 0th word? Count from 9 ` +
			`to 1."}],"temperature":1,"seed":-1}`,
	} {
		f.Add(s)
	}
	var every []string
	for _, k := range scripted.Kinds() {
		every = append(every, k.Slug)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, faults := range [][]string{nil, every} {
			e, err := scripted.New(scripted.Options{Faults: faults, Gather: 1, Window: 4096})
			require.NoError(t, err)
			for _, path := range []string{"/v1/chat/completions", "/v1/completions", "/tokenize"} {
				w := httptest.NewRecorder()
				e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
				if w.Code != http.StatusOK && w.Code != http.StatusBadRequest && w.Code != http.StatusNotFound ||
					w.Body.Len() == 0 {
					t.Errorf("%s: %d %q", path, w.Code, w.Body)
				}
			}
		}
	})
}
