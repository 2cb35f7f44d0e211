package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/assay-suite/assay/safetensors"
)

// withLength replaces the length field of the good two-tensor file.
func withLength(n uint64) []byte {
	file := build(goodB, 11)
	binary.LittleEndian.PutUint64(file, n)
	return file
}

// Files whose first bytes are wrong MUST be refused before anything is allocated for them; the one
// twin of all of them is the good file under its true length.
func TestMalformedPrefix(t *testing.T) {
	for _, row := range []struct {
		name   string
		file   []byte
		offset int64
		cause  string
	}{
		{"empty-file", nil, 0, "has 0 bytes, too few"},
		{"seven-bytes", make([]byte, 7), 7, "has 7 bytes, too few"},
		{"length-zero", withLength(0), 0, "length is 0, too short"},
		{"length-one", withLength(1), 0, "length is 1, too short"},
		{"length-beyond-file", withLength(uint64(len(goodB)) + 12), 0, "but only 118 bytes follow"},
		{"length-above-limit", withLength(100_000_001), 0, "above the format's limit"},
		{"length-huge", withLength(math.MaxUint64), 0, "is 18446744073709551615"},
		{"length-sign-bit", withLength(1 << 63), 0, "is 9223372036854775808"},
		{"length-big-endian", withLength(uint64(len(goodB)) << 56), 0, "above the format's limit"},
		{"length-into-data", withLength(uint64(len(goodB)) + 1), 8 + int64(len(goodB)), "0x00 stands after"},
		{"git-lfs-pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"), 0, "git lfs pull"},
		{"html-page", []byte("<!DOCTYPE html><html></html>"), 0, "HTML page"},
		{"zip-archive", []byte("PK\x03\x04aaaaaaaaaaaa"), 0, "zip archive"},
		{"gguf", []byte("GGUF\x03\x00\x00\x00\x00\x00"), 0, "GGUF"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := open(row.file)
			wantFormatError(t, err, "bad.safetensors", "", row.offset, row.cause)
		})
	}
	if _, err := open(withLength(uint64(len(goodB)))); err != nil {
		t.Errorf("the corrected twin does not open: %v", err)
	}
}

// A file of a few bytes that claims the largest header MUST cost next to no memory.
func TestNoAllocationFromALyingLength(t *testing.T) {
	file := withLength(99_999_999)
	const runs = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if _, err := open(file); err == nil {
			t.Fatal("opened")
		}
	}
	runtime.ReadMemStats(&after)
	// An error sentence takes well under 4 KiB; the claimed header would take 100 MB.
	if per := (after.TotalAlloc - before.TotalAlloc) / runs; per > 4096 {
		t.Errorf("%d bytes allocated for a file of %d bytes", per, len(file))
	}
}

// brokenDisk fails every read at or after byte from.
type brokenDisk struct {
	r    io.ReaderAt
	from int64
}

var errDisk = errors.New("input/output error")

func (d brokenDisk) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= d.from {
		return d.r.ReadAt(p, off)
	}
	n, _ := d.r.ReadAt(p[:max(0, d.from-off)], off)
	return n, errDisk
}

// A failing disk MUST be told apart from a bad file, with the byte and the cause.
func TestBrokenDisk(t *testing.T) {
	file := build(goodB, 11)
	for _, row := range []struct {
		name string
		from int64
	}{{"in-length", 5}, {"in-header", 40}} {
		t.Run(row.name, func(t *testing.T) {
			_, err := safetensors.NewReader(brokenDisk{bytes.NewReader(file), row.from}, int64(len(file)), "bad.safetensors")
			wantFormatError(t, err, "bad.safetensors", "", row.from, "check the disk")
			if !errors.Is(err, errDisk) {
				t.Errorf("%v does not wrap the disk's error", err)
			}
		})
	}
	f, err := safetensors.NewReader(brokenDisk{bytes.NewReader(file), int64(len(file)) - 1}, int64(len(file)),
		"bad.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Bytes("a"); err != nil {
		t.Errorf("the sound tensor does not read: %v", err)
	}
	if _, err := f.Bytes("b"); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want the disk's error", err)
	}
}
