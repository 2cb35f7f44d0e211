package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/server"
)

type tokenized struct {
	Count       int
	MaxModelLen int `json:"max_model_len"`
	Tokens      []int
	TokenStrs   []string `json:"token_strs"`
}

func tokenize(t *testing.T, body string) tokenized {
	t.Helper()
	status, _, data := call(t, start(t, &fakeEngine{}, server.Config{}), "/tokenize", body)
	require.Equal(t, 200, status, "%s", data)
	var got tokenized
	require.NoError(t, json.Unmarshal(data, &got))
	return got
}

func TestTokenize(t *testing.T) {
	for name, row := range map[string]struct {
		body string
		want tokenized
	}{
		"prompt":      {`{"prompt":"4 7"}`, tokenized{3, 2048, []int{0, 10, 13}, nil}},
		"no specials": {`{"prompt":"4 7","add_special_tokens":false}`, tokenized{2, 2048, []int{10, 13}, nil}},
		"with text": {
			`{"model":"fake","prompt":"4","return_token_strs":true}`, tokenized{2, 2048, []int{0, 10}, []string{"<bos>", "4"}},
		},
		"messages": {
			`{"messages":[{"role":"system","content":"1"},{"role":"user","content":"2 3"}]}`, tokenized{
				7, 2048, []int{0, 4, 7, 2, 8, 9, 3}, nil,
			},
		},
		"nothing in text": {`{"prompt":"","add_special_tokens":false}`, tokenized{0, 2048, []int{}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, tokenize(t, row.body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The count must be the one that a completion of the same input is billed.
func TestTokenizeCountsAsUsage(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	for path, body := range map[string]string{text: `"prompt":"one two 3"`, chat: hi} {
		_, _, data := call(t, ts, "/v1/tokenize", "{"+body+"}")
		var got tokenized
		require.NoError(t, json.Unmarshal(data, &got))
		if used := ask(t, ts, path, "{"+body+`,"max_tokens":1}`).Usage.PromptTokens; used != got.Count ||
			len(got.Tokens) != used {
			t.Errorf("%s: usage says %d, /tokenize %d", path, used, got.Count)
		}
	}
}

func TestDetokenize(t *testing.T) {
	ts := start(t, &fakeEngine{}, server.Config{})
	_, _, data := call(t, ts, "/detokenize", `{"tokens":[0,10,20,5]}`)
	if want := `{"prompt":"<bos>4 w4\n"}` + "\n"; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
}

func TestModels(t *testing.T) {
	ts := start(t, &fakeEngine{window: 777}, server.Config{Model: "renamed"})
	list, err := client(ts).ListModels(context.Background())
	require.NoError(t, err)
	require.Len(t, list.Models, 1)
	if list.Models[0].ID != "renamed" {
		t.Errorf("%+v", list.Models)
	}
	_, err = client(ts).GetModel(context.Background(), "renamed")
	require.NoError(t, err)
	a := ask(t, ts, text, fmt.Sprintf(`{"model":%q,"prompt":"a","max_tokens":1}`, "renamed"))
	require.Len(t, a.Choices, 1)
}
