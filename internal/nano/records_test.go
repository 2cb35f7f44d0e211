package nano_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/oracle"
)

// record is what Hugging Face gave for one embedded model: operator traces and greedy answers.
type record struct {
	model  string
	traces []string // that every run looks at, in the model's folder, shortest first
	long   []string // for tag weights: recording all of 2,304 tokens takes a gigabyte
	greedy string
	cases  int                             // in greedy
	sample func([]greedyCase) []greedyCase // those that every run looks at
}

var records = []record{
	{
		model:  "nano-v4",
		traces: []string{"hf_trace_067.safetensors", "hf_trace_391.safetensors.gz"},
		greedy: "hf_greedy.json.gz", cases: 126,
		sample: func(all []greedyCase) []greedyCase { return perLength(all, 3) },
	},
	{
		model:  "nano-flash",
		traces: []string{"hf_trace_512.safetensors.gz"},
		long:   []string{"hf_trace_2304.safetensors.gz"},
		greedy: "hf_greedy.json.gz", cases: 43,
		sample: func(all []greedyCase) []greedyCase {
			some := slices.DeleteFunc(slices.Clone(all), func(c greedyCase) bool { return c.Length > 1024 })
			beyond := slices.IndexFunc(all, func(c greedyCase) bool { return c.Length == 2304 }) // ranking matters from 2,051 on
			return append(some, all[beyond])
		},
	},
}

func (r record) all(t testing.TB) []greedyCase {
	t.Helper()
	raw, err := fixtures.ReadFile(fixtures.FS, r.model+"/"+r.greedy)
	require.NoError(t, err)
	var all []greedyCase
	require.NoError(t, json.Unmarshal(raw, &all))
	require.Len(t, all, r.cases)
	return all
}

// open reads traces of the model's folder.
func (r record) open(t *testing.T, names []string) []*trace.Trace {
	t.Helper()
	var all []*trace.Trace
	for _, name := range names {
		tr, err := trace.Open(fixtures.FS, r.model+"/"+name)
		require.NoError(t, err)
		all = append(all, tr)
	}
	return all
}

// foreign are the traces in the folder named by ASSAY_TRACES that were made with a model of this config.
func (r record) foreign(t *testing.T, c nano.Config) []*trace.Trace {
	t.Helper()
	folder, ok := os.LookupEnv("ASSAY_TRACES")
	if !ok {
		return nil
	}
	fsys := os.DirFS(filepath.Clean(folder))
	names, err := fs.Glob(fsys, "*.safetensors*")
	require.NoError(t, err)
	require.NotEmpty(t, names, "ASSAY_TRACES=%q holds no *.safetensors file", folder)
	var all []*trace.Trace
	for _, name := range names {
		tr, err := trace.Open(fsys, name)
		require.NoError(t, err)
		if madeWith(c, tr) {
			all = append(all, tr)
		} else {
			t.Logf("%s was not made with %s: another number of compressed rows", path.Base(name), r.model)
		}
	}
	return all
}

// madeWith tells whether a trace has as many compressed rows in every layer as the config makes of its tokens.
func madeWith(c nano.Config, tr *trace.Trace) bool {
	for i, ratio := range c.Ratios {
		mask := "model.layers." + strconv.Itoa(i) + ".self_attn.compressor.out.1"
		if shape := tr.Shape(mask); ratio > 0 && (len(shape) == 0 || shape[len(shape)-1] != tr.Length/ratio) {
			return false
		}
	}
	return true
}

// ratioOf is the compress ratio of the layer that a recorded tensor belongs to.
func ratioOf(c nano.Config, name string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "model.layers."), ".")
	layer, err := strconv.Atoi(number)
	if err != nil || layer >= len(c.Ratios) {
		return 0
	}
	return c.Ratios[layer]
}

// The traces of one model MUST be told from those of the other.
func TestTracesKnowTheirModel(t *testing.T) {
	for _, r := range records {
		for _, other := range records {
			c := load(t, other.model, oracle.Reference()).Config
			for _, tr := range r.open(t, append(slices.Clone(r.traces), r.long...)) {
				if madeWith(c, tr) != (r.model == other.model) {
					t.Errorf("%s of %s is taken for %s: %v", tr.Name, r.model, other.model, madeWith(c, tr))
				}
			}
		}
	}
}

// shortPrompt and longPrompt are nano-v4's two, of 67 and 391 tokens.
func shortPrompt(t *testing.T) []int {
	t.Helper()
	return records[0].open(t, records[0].traces)[0].Prompt
}

func longPrompt(t *testing.T) []int {
	t.Helper()
	return records[0].open(t, records[0].traces)[1].Prompt
}
