package inflate

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
)

// What cannot be written MUST be one sentence that names the thing, and leave nothing behind.
func TestCommandRefuses(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.Mkdir(there, 0o755))
	small := filepath.Join(dir, "config.json")
	require.NoError(t, os.WriteFile(small, []byte(`{"hidden_size": 128}`), 0o600))
	out := "-out=" + filepath.Join(dir, "new")
	for _, row := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "-out is missing"},
		{"-speed", 2, "inflate -h lists the flags"},
		{out + " more", 2, `"more" is no flag`},
		{
			out + " -shape=v5", 2,
			`shape "v5" is neither known (v4-flash, v4-pro, v3.2-like, small, llama-3-8b, llama-small) nor a config.json`,
		},
		{out + " -shape=" + small, 2, "q_lora_rank is missing or 0"},
		{out + " -format=int8", 2, `no format "int8"; use one of hf-fp32`},
		{out + " -from=nowhere", 2, "-from=nowhere has no config.json"},
		{out + " -layers=3", 5, "the model has 4, which is the least"},
		{out + " -layers=5", 5, "have room for 2 of the model's 4"},
		{out + " -layers=99", 5, "has 43, which is the most"},
		{out + " -experts=8", 5, "experts, copies of all is 8, the model needs at least 12"},
		{out + " -shape=llama-3-8b", 5, "is of a plain Llama, and nano-flash is of the DeepSeek-V4 architecture"},
		{out + " -from=fixtures/nano-llama", 5, "hf-fp32 and hf-bf16, not in fp8"},
		{out + " -from=fixtures/nano-llama -format=hf-bf16", 5, "use llama-3-8b or llama-small"},
		{out + " -from=fixtures/nano-llama -format=hf-bf16 -shape=llama-3-8b -layers=33", 5, "has 32, which is the most"},
		{"-out=" + there, 5, "is there already"},
	} {
		var stdout, stderr bytes.Buffer
		code := Command(context.Background(), strings.Fields(row.args), &stdout, &stderr)
		if code != row.code || !strings.Contains(stderr.String(), row.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("inflate %s: code %d and %q, want %d and %q", row.args, code, stderr.String(), row.code, row.want)
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
	var stdout bytes.Buffer
	require.Zero(t, Command(context.Background(), []string{"-h"}, &stdout, &stdout))
	require.Contains(t, stdout.String(), "-mix")
}

// An interrupted run MUST leave nothing.
func TestInterruptedLeavesNothing(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	dir := t.TempDir()
	var out bytes.Buffer
	require.Equal(t, 3, Command(ctx, []string{"-out=" + filepath.Join(dir, "x")}, &out, &out))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The vocabulary MUST stand for the model's ids: every word of a text by its alias.
func TestWordsStandForIDs(t *testing.T) {
	v, err := words()
	require.NoError(t, err)
	ids := v.ids()
	require.Len(t, ids, nano.VocabSize+len(v.words), "texts are unique")
	var written bytes.Buffer
	require.NoError(t, WriteIDs(&written))
	for line := range strings.Lines(written.String()) {
		var row struct {
			Text string
			IDs  []int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		all := map[string]bool{}
		addWords(all, row.Text)
		for w := range all {
			id, ok := ids[mark+w]
			if id >= nano.VocabSize {
				id = v.alias[id-nano.VocabSize]
			}
			if want := nano.Encode(w); !ok || id != want[0] {
				t.Fatalf("%q is id %d, and %v to the model", w, id, want)
			}
		}
	}
}
