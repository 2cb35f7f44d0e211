package gguf

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	_ "github.com/assay-suite/assay/internal/golden" // registers -update
	"github.com/assay-suite/assay/internal/nano"
)

// The vocabulary MUST give every word of both haystacks the id that nano.Encode gives it, newline, digits and marks
// their own, and no text twice.
func TestVocabularyHasTheWords(t *testing.T) {
	v, err := newVocabulary()
	require.NoError(t, err)
	at := map[string]int{}
	for id, text := range v.texts {
		at[text] = id
	}
	n := 0
	for _, name := range []string{"haystack/opticks.txt.gz", "haystack/tom-sawyer.txt.gz"} {
		raw, err := fixtures.ReadFile(fixtures.FS, name)
		require.NoError(t, err)
		gap := func(r rune) bool { return !unicode.IsLetter(r) }
		for _, word := range strings.FieldsFunc(strings.ToLower(string(raw)), gap) {
			id, ok := at["\u2581"+word]
			if want := nano.Encode(word); !ok || v.types[id] != normal || len(want) != 1 || v.alias[id] != want[0] {
				t.Fatalf("%q: id %d, stands for %v, want %v", word, id, v.alias[id], want)
			}
			n++
		}
	}
	for mark := range strings.SplitSeq("\n 0 9 . , ? ! : ; ' \" ( ) -", " ") {
		if id, ok := at[mark]; !ok || v.types[id] != user || id != nano.Encode(mark)[0] {
			t.Errorf("%q is id %d of type %d", mark, id, v.types[id])
		}
	}
	t.Logf("%d words, %d ids", n, len(v.texts))
}

// Pairs (i, i+d/2) of a head MUST become neighbours.
func TestInterleavedByHand(t *testing.T) {
	rows := []float64{0, 1, 2, 3, 10, 11, 12, 13} // two heads of 4 channels, one column
	require.Equal(t, []float64{0, 2, 1, 3, 10, 12, 11, 13}, interleaved(rows, 4, 1))
}

// The file MUST begin as the format says, with tensors at multiples of 32 that end with the file, in each storage type;
// what does not fit is refused. A reader of others checks the rest (.ci/engines).
func TestFileLayout(t *testing.T) {
	folder, err := fs.Sub(fixtures.FS, "nano-llama")
	require.NoError(t, err)
	sizes := map[string]int{}
	for stored := range types {
		raw, err := Encode(folder, "nano-llama", stored)
		require.NoError(t, err)
		require.Equal(t, "GGUF", string(raw[:4]))
		require.Equal(t, uint32(3), binary.LittleEndian.Uint32(raw[4:]))
		require.Equal(t, uint64(3+4*9), binary.LittleEndian.Uint64(raw[8:]))
		require.Zero(t, len(raw)%alignment)
		require.True(t, bytes.Contains(raw, []byte("tokenizer.chat_template")))
		sizes[stored] = len(raw)
	}
	require.Equal(t, sizes["f16"], sizes["bf16"])
	require.Less(t, sizes["f16"], sizes["f32"])
	_, err = Encode(folder, "nano-llama", "q4_0")
	require.ErrorContains(t, err, `"q4_0"`)
	v4, err := fs.Sub(fixtures.FS, "nano-v4")
	require.NoError(t, err)
	_, err = Encode(v4, "nano-v4", "f32")
	require.ErrorContains(t, err, "model_type")
	f := &file{}
	require.ErrorContains(t, f.add("big", []int{1}, []float64{1e6}, tensorF16), "does not fit")
	require.ErrorContains(t, f.add("big", []int{1}, []float64{math.MaxFloat64}, tensorF32), "does not fit")
	require.ErrorContains(t, f.add("short", []int{2}, []float64{1}, tensorF32), "1 values")
	require.Error(t, f.set("key", 1.5))
}

// Bad arguments MUST end with code 2 and a sentence, a folder that is not there with 5 and no file.
func TestCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.gguf")
	for _, args := range [][]string{
		{},
		{"-out=" + out, "-type=q8_0"},
		{"-out=" + out, "-from=/nowhere"},
		{"-out=" + out, "more"},
	} {
		var said bytes.Buffer
		require.Equal(t, 2, Command(args, &said, &said), args)
		require.NotEmpty(t, said.String())
	}
	var said bytes.Buffer
	require.Equal(t, 5, Command([]string{"-out=" + filepath.Join(out, "x", "y")}, &said, &said))
	require.NoFileExists(t, out)
	require.Equal(t, 0, Command([]string{"-out=" + out, "-type=bf16"}, &said, &said), said.String())
	info, err := os.Stat(out)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1<<22))
}
