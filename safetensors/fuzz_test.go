package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/assay-suite/assay/safetensors"
)

// FuzzReader: any bytes MUST either be refused with a *FormatError inside the file, or open as what
// encoding/json says they are, with tensors that tile the data and read without error.
func FuzzReader(f *testing.F) {
	for _, row := range slices.Concat(malformedHeaders, malformedShapes) {
		f.Add(build(row.twin, row.twinData))
		f.Add(build(row.header, row.data)) // with its mark: one more kind of damage
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		st, err := open(file)
		if err != nil {
			checkFormatError(t, err, int64(len(file)))
			return
		}
		n := int64(binary.LittleEndian.Uint64(file))
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(file[8:8+n], &fields); err != nil {
			t.Fatalf("opened, but the header is no JSON: %v", err)
		}
		delete(fields, "__metadata__")
		if len(fields) != len(st.Names()) {
			t.Fatalf("%d tensors opened, %d are in the JSON", len(st.Names()), len(fields))
		}
		next := 8 + n
		for _, name := range st.Names() {
			info, _ := st.Tensor(name)
			var e rawEntry
			if err := json.Unmarshal(fields[name], &e); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			if info.Offset != next || info.Offset != 8+n+e.Offsets[0] || info.Offset+info.Size != 8+n+e.Offsets[1] ||
				string(info.DType) != e.DType {
				t.Fatalf("%+v does not fit the entry %+v after byte %d", info, e, next)
			}
			next = info.Offset + info.Size
			whole, err := st.Bytes(name)
			if err != nil || !bytes.Equal(whole, file[info.Offset:next]) {
				t.Fatalf("%q: wrong bytes (%v)", name, err)
			}
			checkRows(t, st, info, whole)
		}
		if next != int64(len(file)) {
			t.Fatalf("the tensors end at byte %d of %d", next, len(file))
		}
	})
}

// checkRows: the two halves of a tensor, where they can be read, are the whole.
func checkRows(t *testing.T, st *safetensors.File, info safetensors.Info, whole []byte) {
	t.Helper()
	if len(info.Shape) == 0 {
		return
	}
	half := info.Shape[0] / 2
	first, err := st.Rows(info.Name, 0, half)
	if err != nil {
		if info.DType.Bits()%8 == 0 {
			t.Fatalf("%+v: %v", info, err)
		}
		return
	}
	second, err := st.Rows(info.Name, half, info.Shape[0])
	if err != nil || !bytes.Equal(append(first, second...), whole) {
		t.Fatalf("%+v: rows are not the whole (%v)", info, err)
	}
}

// FuzzIndex: any index text over two fixed shards MUST be refused with a sentence, or list exactly
// the tensors that encoding/json reads from it.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(goodIndex))
	f.Add([]byte(`{"weight_map":{"c":"s2.safetensors"}}`))
	f.Add([]byte(`{"weight_map":{}}`))
	f.Add([]byte(`{"weight_map":{"a":"../x","a":1}}`))
	f.Add([]byte(`{"metadata":{"total_size":1.3e1,"x":[[[{}]]]},"weight_map":{"c":"s2.safetensors"}}`))
	f.Fuzz(func(t *testing.T, index []byte) {
		c, err := safetensors.OpenCheckpoint(twoShards(string(index)), "w")
		if err != nil {
			var fe *safetensors.FormatError
			if errors.As(err, &fe) && fe.File == "w/"+indexName {
				checkFormatError(t, err, int64(len(index)))
			}
			return
		}
		var want struct {
			Map map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(index, &want); err != nil {
			t.Fatalf("opened, but the index is no JSON: %v", err)
		}
		if len(c.Names()) != len(want.Map) {
			t.Fatalf("%d tensors opened, %d are in the JSON", len(c.Names()), len(want.Map))
		}
		for name, shard := range want.Map {
			if info, ok := c.Tensor(name); !ok || info.File != "w/"+shard {
				t.Fatalf("%q is in %q, want w/%s", name, info.File, shard)
			}
		}
	})
}

func checkFormatError(t *testing.T, err error, size int64) {
	t.Helper()
	var fe *safetensors.FormatError
	if !errors.As(err, &fe) {
		t.Fatalf("got %T %v, want a *FormatError", err, err)
	}
	if fe.Offset < 0 || fe.Offset > size || fe.File == "" || fe.Problem == "" {
		t.Fatalf("the error points outside the file of %d bytes or says nothing: %+v", size, fe)
	}
}
