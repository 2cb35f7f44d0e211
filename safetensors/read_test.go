package safetensors_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/safetensors"
)

// span is one read: [from, to) of the file.
type span struct{ from, to int64 }

// meter notes every read that passes through it.
type meter struct {
	r     io.ReaderAt
	spans []span
}

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	m.spans = append(m.spans, span{off, off + int64(len(p))})
	return m.r.ReadAt(p, off)
}

// Opening MUST touch length and header only, and a read MUST touch the asked bytes only.
func TestReadsTouchOnlyWhatIsAsked(t *testing.T) {
	header := `{` + tensor("a", "F32", "5,3", 0, 60) + `,` + tensor("q", "F4", "3,2,2", 60, 66) + `}`
	file := build(header, 66)
	data := int64(8 + len(header))
	m := &meter{r: bytes.NewReader(file)}
	f, err := safetensors.NewReader(m, int64(len(file)), "counted")
	require.NoError(t, err)
	section, err := f.Section("q")
	require.NoError(t, err)
	for _, row := range []struct {
		name string
		read func() ([]byte, error)
		want span // of data
	}{
		{"bytes", func() ([]byte, error) { return f.Bytes("q") }, span{60, 66}},
		{"middle-rows", func() ([]byte, error) { return f.Rows("a", 1, 3) }, span{12, 36}},
		{"last-row", func() ([]byte, error) { return f.Rows("a", 4, 5) }, span{48, 60}},
		{"f4-row", func() ([]byte, error) { return f.Rows("q", 1, 2) }, span{62, 64}},
		{"section-part", func() ([]byte, error) {
			part := make([]byte, 3)
			_, err := section.ReadAt(part, 2)
			return part, err
		}, span{62, 65}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if want := []span{{0, 8}, {8, data}}; !slices.Equal(m.spans[:2], want) {
				t.Errorf("opening read %v, want %v", m.spans[:2], want)
			}
			m.spans = m.spans[:2]
			got, err := row.read()
			require.NoError(t, err)
			want := span{data + row.want.from, data + row.want.to}
			if !slices.Equal(m.spans[2:], []span{want}) {
				t.Errorf("read %v, want [%v]", m.spans[2:], want)
			}
			if !bytes.Equal(got, file[want.from:want.to]) {
				t.Errorf("got %v, want %v", got, file[want.from:want.to])
			}
		})
	}
}

// A range that is no range of rows MUST be refused with the range; empty ranges are fine.
func TestRowsRefusals(t *testing.T) {
	f, err := open(build(`{`+tensor("a", "F32", "5,3", 0, 60)+`,`+tensor("q", "F4", "4,3", 60, 66)+`,`+
		tensor("s", "U8", "", 66, 67)+`,`+tensor("z", "U8", "2,0", 67, 67)+`}`, 67))
	require.NoError(t, err)
	for _, row := range []struct {
		name, tensor string
		from, to     int
		cause        string // empty: accepted
		size         int
	}{
		{"all", "a", 0, 5, "", 60},
		{"none-at-end", "a", 5, 5, "", 0},
		{"negative", "a", -1, 2, "[-1, 2) is not a range", 0},
		{"reversed", "a", 3, 2, "[3, 2) is not a range", 0},
		{"one-too-many", "a", 0, 6, "has rows 0 to 5", 0},
		{"scalar", "s", 0, 1, "is a scalar", 0},
		{"empty-rows", "z", 0, 2, "", 0},
		{"f4-pair", "q", 2, 4, "", 3},
		{"f4-odd-start", "q", 1, 3, "do not start and end on a byte", 0},
		{"f4-odd-end", "q", 0, 1, "do not start and end on a byte", 0},
		{"unknown", "nope", 0, 1, "is not among the 4 tensors", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := f.Rows(row.tensor, row.from, row.to)
			if row.cause == "" {
				require.NoError(t, err)
				if len(got) != row.size {
					t.Errorf("got %d bytes, want %d", len(got), row.size)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.cause) || !strings.Contains(err.Error(), row.tensor) {
				t.Errorf("got %v, want an error about %q and %q", err, row.tensor, row.cause)
			}
		})
	}
	if _, err := f.Bytes("nope"); !errors.Is(err, safetensors.ErrNoTensor) {
		t.Errorf("%v does not wrap ErrNoTensor", err)
	}
}

// Element sizes MUST be those of the format (bits per element from the names of the number formats).
func TestDTypeBits(t *testing.T) {
	want := map[safetensors.DType]int{
		"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
		"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
		"C64": 64, "F64": 64, "I64": 64, "U64": 64,
	}
	got := map[safetensors.DType]int{}
	for _, d := range safetensors.DTypes() {
		got[d] = d.Bits()
		f, err := open(build(`{`+tensor("x", string(d), "2,4", 0, want[d])+`}`, want[d]))
		if err != nil {
			t.Errorf("%s: 8 elements in %d bytes are refused: %v", d, want[d], err)
			continue
		}
		if info, _ := f.Tensor("x"); info.Elements() != 8 {
			t.Errorf("%s: %d elements, want 8", d, info.Elements())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-format +DTypes):\n%s", diff)
	}
	if safetensors.DType("F8").Bits() != 0 {
		t.Error("an unknown dtype has a size")
	}
}

// Typed readers MUST widen by sign and refuse what is not native. Bit patterns are written by hand.
func TestTypedReaders(t *testing.T) {
	header := `{` + tensor("i8", "I8", "2", 0, 2) + `,` + tensor("u8", "U8", "2", 2, 4) + `,` +
		tensor("i16", "I16", "1", 4, 6) + `,` +
		tensor("u16", "U16", "1", 6, 8) + `,` + tensor("i32", "I32", "1", 8, 12) + `,` + tensor("u32", "U32", "1", 12, 16) +
		`,` +
		tensor("i64", "I64", "1", 16, 24) + `,` + tensor("u64", "U64", "1", 24, 32) + `,` +
		tensor("f32", "F32", "2", 32, 40) + `,` + tensor("f64", "F64", "1", 40, 48) + `}`
	data := []byte("\xff\x7f\xff\x7f\xfe\xff\xfe\xff\xfd\xff\xff\xff\xfd\xff\xff\xff" +
		"\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" +
		"\x00\x00\xc0\x3f\x00\x00\x80\xff" + "\x00\x00\x00\x00\x00\x00\x04\xc0")
	f, err := open(append(build(header, 0), data...))
	require.NoError(t, err)
	for name, want := range map[string][]int64{
		"i8": {-1, 127}, "u8": {255, 127}, "i16": {-2}, "u16": {65534}, "i32": {-3}, "u32": {4294967293}, "i64": {-4},
	} {
		if got, err := f.Int64s(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, want)
		}
	}
	if got, err := f.Float32s("f32"); err != nil || !slices.Equal(got, []float32{1.5, float32(math.Inf(-1))}) {
		t.Errorf("f32: got %v (%v), want [1.5 -Inf]", got, err)
	}
	if got, err := f.Float64s("f64"); err != nil || !slices.Equal(got, []float64{-2.5}) {
		t.Errorf("f64: got %v (%v), want [-2.5]", got, err)
	}
	if _, err := f.Int64s("u64"); err == nil || !strings.Contains(err.Error(), `"u64" is U64`) {
		t.Errorf("u64 as int64: got %v, want a refusal", err)
	}
	if _, err := f.Float32s("f64"); err == nil || !strings.Contains(err.Error(), "numerics/format") {
		t.Errorf("f64 as float32: got %v, want a refusal that names the decoder", err)
	}
	if _, err := f.Int64s("nope"); !errors.Is(err, safetensors.ErrNoTensor) {
		t.Errorf("%v does not wrap ErrNoTensor", err)
	}
}

// What is handed out MUST be the caller's own: changing it changes nothing in the file.
func TestHandedOutValuesAreCopies(t *testing.T) {
	f, err := open(build(`{"__metadata__":{"k":"v"},`+tensor("a", "F32", "2", 0, 8)+`}`, 8))
	require.NoError(t, err)
	info, _ := f.Tensor("a")
	info.Shape[0] = 99
	f.Names()[0] = "x"
	f.Metadata()["k"] = "x"
	again, _ := f.Tensor("a")
	if again.Shape[0] != 2 || f.Names()[0] != "a" || f.Metadata()["k"] != "v" {
		t.Errorf("shape %v, names %v, metadata %v were changed from outside", again.Shape, f.Names(), f.Metadata())
	}
}

// Open MUST read from the operating system, refuse folders, and release the file.
func TestOpenAndClose(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.safetensors")
	require.NoError(t, os.WriteFile(name, build(goodB, 11), 0o600))
	f, err := safetensors.Open(name)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := f.Bytes("b"); err != nil || !bytes.Equal(got, []byte{8, 9, 10}) {
				t.Errorf("concurrent read: %v (%v)", got, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, os.Truncate(name, int64(len(build(goodB, 11))-1)))
	if _, err := f.Bytes("b"); !errors.Is(err, io.ErrUnexpectedEOF) ||
		!strings.Contains(err.Error(), "changed after it was opened") {
		t.Errorf("a file cut after opening: got %v", err)
	}
	for _, time := range []string{"first", "second"} {
		if err := f.Close(); err != nil {
			t.Errorf("%s Close: %v", time, err)
		}
	}
	if _, err := f.Bytes("a"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: got %v, want os.ErrClosed", err)
	}
	if _, err := safetensors.Open(dir); err == nil || !strings.Contains(err.Error(), "OpenCheckpoint") {
		t.Errorf("a folder: got %v, want the advice to use OpenCheckpoint", err)
	}
	if _, err := safetensors.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	var fe *safetensors.FormatError
	if _, err := safetensors.Open(name); !errors.As(err, &fe) || fe.File != name || fe.Tensor != "b" {
		t.Errorf("a cut file: got %v, want a FormatError about %s and b", err, name)
	}
}

// A file system without ReadAt MUST be refused with the reason instead of being read whole.
func TestOpenFSNeedsReaderAt(t *testing.T) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	part, err := w.Create("x.safetensors")
	require.NoError(t, err)
	_, err = part.Write(build(goodA, 8))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	archive, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.NoError(t, err)
	if _, err := safetensors.OpenFS(archive, "x.safetensors"); err == nil ||
		!strings.Contains(err.Error(), "without ReadAt") {
		t.Errorf("got %v, want a refusal that names ReadAt", err)
	}
}
