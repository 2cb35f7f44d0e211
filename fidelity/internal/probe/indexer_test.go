package probe

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

func encode(vs []int32) string {
	var b bytes.Buffer
	for _, v := range vs {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// The reader MUST find the field in any text, keep the last entries only, and end broken answers with a sentence.
func TestReadSelections(t *testing.T) {
	var all []int32
	for i := range 1000 {
		all = append(all, int32(i%37-1))
	}
	for _, pretty := range []string{
		`{"text":"say \"indexer_topk\": \"AAAA\"","meta_info":{"indexer_topk":"%s","x":1}}`,
		`{"meta_info": { "indexer_topk" : "%s" }, "text": "t"}`,
	} {
		body := fmt.Sprintf(pretty, strings.ReplaceAll(encode(all), "/", `\/`))
		got, n, err := readSelections(iotest.OneByteReader(strings.NewReader(body)), -1)
		require.NoError(t, err)
		assert.Equal(t, all, got)
		assert.Equal(t, len(all), n)
		for _, keep := range []int{1, 48, 999, 1000, 2000} {
			got, _, err = readSelections(strings.NewReader(body), keep)
			require.NoError(t, err)
			assert.Equal(t, all[max(0, len(all)-keep):], got)
		}
		for cut := 0; cut < len(body)-40; cut += 29 {
			if _, _, err := readSelections(strings.NewReader(body[:cut]), -1); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
	}
	for _, bad := range []string{
		"", `{"meta_info":{"indexer_topk":null}}`, `{"meta_info":{"indexer_topk":"AAAA"}}`, `{"indexer_topk":"!!!!"}`,
		`"indexer_topk"`,
	} {
		_, _, err := readSelections(strings.NewReader(bad), -1)
		assert.Error(t, err, bad)
	}
}

// rowsOf is what an engine of some layers gives for n tokens: row i selects at most topk of the entries of its tokens
// so far, the chosen ones first.
func rowsOf(n, layers, topk, unit int, first func(layer, row int) int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	var out []int32
	for row := range n {
		entries := (row + unit) / unit
		for l := range layers {
			pick := r.Perm(entries)
			if f := first(l, row); f >= 0 && f < entries {
				pick = append([]int{f}, pick...)
			}
			seen := map[int]bool{}
			for _, p := range pick {
				if len(seen) < topk && !seen[p] {
					seen[p] = true
					out = append(out, int32(p))
				}
			}
			for range topk - len(seen) {
				out = append(out, -1)
			}
		}
	}
	return out
}

func TestProve(t *testing.T) {
	none := func(int, int) int { return -1 }
	for _, unit := range []int{1, 4, 64} {
		l, err := prove(rowsOf(128, 3, 256, unit, none), 128)
		require.NoError(t, err)
		assert.Equal(t, layout{3, 256, unit}, l)
	}
	_, err := prove(rowsOf(600, 3, 64, 4, none), 600)
	assert.Error(t, err, "not all is selected")
	_, err = prove([]int32{1, 2, 3}, 2)
	assert.ErrorContains(t, err, "no whole number")
	_, err = prove(nil, 2)
	assert.Error(t, err)
	_, err = prove([]int32{0, 0, -1, 0, 0, -1}, 2)
	assert.Error(t, err)
}

// native is an SGLang-like server of two layers: the first selects the needle, the second never does.
type native struct{ t testing.TB }

func tokensOf(s string) []string { return strings.Fields(s) }

func (n native) RoundTrip(r *http.Request) (*http.Response, error) {
	var in struct {
		Text   string
		Prompt string
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	assert.NoError(n.t, json.Unmarshal(body, &in))
	var out any
	switch r.URL.Path {
	case "/generate":
		words := tokensOf(in.Text)
		needleAt := -1
		for i, w := range words {
			if w == "access" && needleAt < 0 {
				needleAt = i / 4
			}
		}
		out = map[string]any{
			"text": " ok", "meta_info": map[string]any{
				"indexer_topk": encode(rowsOf(len(words), 2, 24, 4, func(layer, _ int) int {
					if layer == 0 {
						return needleAt
					}
					return -1
				})),
			},
		}
	case "/tokenize":
		out = map[string]any{
			"count": len(tokensOf(in.Prompt)), "tokens": make([]int, len(tokensOf(in.Prompt))), "max_model_len": 4096,
		}
	default:
		return &http.Response{
			StatusCode: http.StatusNotFound,
			Body:       io.NopCloser(strings.NewReader("{}")),
			Header:     http.Header{},
			Request:    r,
		}, nil
	}
	data, err := json.Marshal(out)
	return &http.Response{
		StatusCode: http.StatusOK,
		Body:       io.NopCloser(bytes.NewReader(data)),
		Header:     http.Header{"Content-Type": {"application/json"}},
		Request:    r,
	}, err
}

func TestIndexer(t *testing.T) {
	c, err := endpoint.New(endpoint.Options{BaseURL: "http://sglang.test", Model: "m", Transport: native{t}})
	require.NoError(t, err)
	h, err := needle.Open("generated", 3, 20_000)
	require.NoError(t, err)
	s := endpoint.Survey{
		Preflight: endpoint.Preflight{
			Model:    "m",
			Window:   endpoint.Count{N: 4096, Known: true},
			Features: []endpoint.Feature{{Name: "indexer-topk", State: endpoint.Supported}},
		},
	}
	r, err := New(Options{Client: c, Survey: s, Haystack: h, Budget: Smoke, Nonce: "n", Only: []string{evidence.Indexer}})
	require.NoError(t, err)
	set, err := r.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, set.LeftOut[evidence.Indexer])
	for name, want := range map[string]float64{"units": 4, "layers": 2, "topk": 24} {
		got, ok := set.Number(evidence.Indexer, name)
		assert.True(t, ok)
		assert.Equal(t, int(want), int(got), name)
	}
	found, ok := set.Arm(evidence.Indexer, "layer-0")
	require.True(t, ok)
	assert.Equal(t, 3*questionRows, found.Runs)
	assert.Equal(t, found.Runs, found.Right)
	lost, ok := set.Arm(evidence.Indexer, "layer-1")
	require.True(t, ok)
	assert.Less(t, lost.Right, lost.Runs/2)
}
