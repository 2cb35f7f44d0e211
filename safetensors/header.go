package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// maxHeader is the format's own limit on the header, in bytes.
// Source: huggingface/safetensors safetensors/src/tensor.rs, MAX_HEADER_SIZE.
const maxHeader = 100_000_000

// entry is one tensor of the header before its place in the file is known.
type entry struct {
	info       Info
	begin, end int64 // relative to the data
	at         int64 // byte of the entry's name in the file
}

// readHeader reads and checks the header of a file of size bytes. It allocates no more than the
// file is long, whatever the length field says.
func readHeader(r io.ReaderAt, size int64, file string) ([]Info, map[string]string, error) {
	fail := func(at int64, problem string, err error) error {
		return &FormatError{File: file, Offset: at, Problem: problem, Err: err}
	}
	if size < 8 {
		return nil, nil, fail(max(size, 0), "the file has "+strconv.FormatInt(size, 10)+" bytes, too few for the 8-byte "+
			"header length; "+fixDownload, nil)
	}
	var prefix [8]byte
	if n, err := r.ReadAt(prefix[:], 0); n < len(prefix) {
		return nil, nil, fail(int64(n), "the header length cannot be read; check the disk or mount", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if other := foreign(prefix[:]); other != "" {
		return nil, nil, fail(0, other, nil)
	}
	switch {
	case length > maxHeader:
		return nil, nil, fail(0, "the header length is "+strconv.FormatUint(length, 10)+", above the format's limit of "+
			strconv.Itoa(maxHeader)+" bytes; this is no safetensors file, or it is damaged: fetch it again", nil)
	case int64(length) > size-8:
		return nil, nil, fail(0, "the header length is "+strconv.FormatUint(length, 10)+" but only "+
			strconv.FormatInt(size-8, 10)+" bytes follow; "+fixDownload, nil)
	case length < 2:
		return nil, nil, fail(0, "the header length is "+strconv.FormatUint(length, 10)+
			", too short even for an empty object {}; "+fixWriter, nil)
	}
	header := make([]byte, length)
	if n, err := r.ReadAt(header, 8); n < len(header) {
		return nil, nil, fail(8+int64(n), "the header cannot be read to its end; check the disk or mount", err)
	}
	if header[0] != '{' {
		return nil, nil, fail(8, "the header starts with 0x"+strconv.FormatUint(uint64(header[0]), 16)+
			", but must start with '{'; "+fixWriter, nil)
	}
	return parseHeader(file, header, size-8-int64(length))
}

// foreign recognises what is most often found under the name of a safetensors file, from the first 8 bytes.
func foreign(prefix []byte) string {
	switch {
	case bytes.HasPrefix(prefix, []byte("version ")):
		return "this is a Git LFS pointer, not the weights; run git lfs pull"
	case bytes.HasPrefix(prefix, []byte("<!")), bytes.HasPrefix(prefix, []byte("<html")):
		return "this is an HTML page, not the weights; the download was answered with a web page: check address and token"
	case bytes.HasPrefix(prefix, []byte("PK\x03\x04")):
		return "this is a zip archive (a torch .bin or .pt file?), not safetensors; convert it first"
	case bytes.HasPrefix(prefix, []byte("GGUF")):
		return "this is a GGUF file, not safetensors; convert it first"
	}
	return ""
}

// parseHeader checks the JSON header (bytes 8 to 8+len of the file) against data bytes of tensor
// data, and returns the tensors in the order of their bytes.
func parseHeader(file string, header []byte, data int64) ([]Info, map[string]string, error) {
	w := newWalker(file, header, 8)
	if err := w.checkUTF8(); err != nil {
		return nil, nil, err
	}
	var entries []entry
	meta := map[string]string{}
	err := w.object("the header", func(key string, at int64) error {
		if key == "__metadata__" {
			return readMetadata(w, meta)
		}
		w.tensor = key
		e, err := readEntry(w, key, at)
		w.tensor = ""
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := w.end(); err != nil {
		return nil, nil, err
	}
	infos, err := place(w, entries, 8+int64(len(header)), data)
	return infos, meta, err
}

func readMetadata(w *walker, meta map[string]string) error {
	return w.object("__metadata__", func(key string, _ int64) error {
		value, err := w.text("__metadata__ value of " + strconv.Quote(clip(key)))
		meta[key] = value
		return err
	})
}

// readEntry reads {"dtype":..., "shape":[...], "data_offsets":[begin, end]} and checks that they agree.
func readEntry(w *walker, name string, at int64) (entry, error) {
	e := entry{info: Info{Name: name, File: w.file}, at: at}
	var hasType, hasShape, hasOffsets bool
	var shapeAt, offsetsAt int64
	err := w.object("the entry", func(key string, at int64) error {
		switch key {
		case "dtype":
			hasType = true
			text, err := w.text("dtype")
			e.info.DType = DType(text)
			if err == nil && e.info.DType.Bits() == 0 {
				return w.fail(w.at, "the dtype %q is unknown; the format has %s", clip(text), knownDTypes())
			}
			return err
		case "shape":
			hasShape, shapeAt = true, at
			dims, err := w.integers("a dimension of shape", math.MaxInt)
			e.info.Shape = make([]int, len(dims))
			for i, d := range dims {
				e.info.Shape[i] = int(d)
			}
			return err
		case "data_offsets":
			hasOffsets, offsetsAt = true, at
			pair, err := w.integers("a value of data_offsets", math.MaxInt64)
			if err != nil {
				return err
			}
			if len(pair) != 2 {
				return w.fail(at, "data_offsets has %d values, but must be [begin, end]; %s", len(pair), fixWriter)
			}
			e.begin, e.end = pair[0], pair[1]
			return nil
		}
		return w.fail(at, "the entry has the unknown field %q; only dtype, shape and data_offsets are allowed; %s", clip(key),
			fixWriter)
	})
	switch {
	case err != nil:
		return e, err
	case !hasType:
		return e, w.fail(at, "the entry has no dtype; %s", fixWriter)
	case !hasShape:
		return e, w.fail(at, "the entry has no shape; %s", fixWriter)
	case !hasOffsets:
		return e, w.fail(at, "the entry has no data_offsets; %s", fixWriter)
	case e.end < e.begin:
		return e, w.fail(offsetsAt, "data_offsets end at %d before they begin at %d; %s", e.end, e.begin, fixWriter)
	}
	size, ok := sizeBits(e.info.DType, e.info.Shape)
	switch {
	case !ok:
		return e, w.fail(shapeAt, "the shape %v of %s overflows a 63-bit size; %s", clipShape(e.info.Shape), e.info.DType,
			fixWriter)
	case size%8 != 0:
		return e, w.fail(shapeAt, "the shape %v of %s makes %d bits, not a whole number of bytes; pad the last dimension "+
			"and write the file again", clipShape(e.info.Shape), e.info.DType, size)
	case e.end-e.begin != size/8:
		return e, w.fail(offsetsAt, "data_offsets [%d, %d] span %d bytes, but shape %v of %s needs %d; %s", e.begin, e.end,
			e.end-e.begin, clipShape(e.info.Shape), e.info.DType, size/8, fixWriter)
	}
	e.info.Size = size / 8
	return e, nil
}

// place sorts the entries by their bytes and checks that these tile the data: no hole, no overlap,
// nothing missing at the end and nothing left over.
func place(w *walker, entries []entry, start, data int64) ([]Info, error) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	infos := make([]Info, 0, len(entries))
	next, before := int64(0), ""
	for _, e := range entries {
		w.tensor = e.info.Name
		switch {
		case e.begin > next:
			return nil, w.fail(start+next, "%d bytes before this tensor (begin %d) belong to no tensor; %s", e.begin-next,
				e.begin, fixWriter)
		case e.begin < next:
			return nil, w.fail(start+e.begin, "it begins at data offset %d inside tensor %q, which ends at %d; %s", e.begin,
				clip(before), next, fixWriter)
		case e.end > data:
			return nil, w.fail(start+data, "it ends at data offset %d, but the file has only %d bytes of data; %s", e.end, data,
				fixDownload)
		}
		e.info.Offset = start + e.begin
		infos = append(infos, e.info)
		next, before = e.end, e.info.Name
	}
	w.tensor = ""
	if next != data {
		return nil, w.fail(start+next, "%d bytes after the last tensor belong to no tensor; %s", data-next, fixWriter)
	}
	return infos, nil
}

// sizeBits is the product of the element size and the shape, in bits. It is not ok when the non-zero
// dimensions alone exceed 63 bits: such a shape has rows that cannot be addressed, even if it is empty.
func sizeBits(d DType, shape []int) (size int64, ok bool) {
	product, empty := uint64(d.Bits()), false
	for _, dim := range shape {
		if dim == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(product, uint64(dim))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		product = lo
	}
	if empty {
		return 0, true
	}
	return int64(product), true
}

func clipShape(shape []int) []int { return shape[:min(len(shape), 16)] }
