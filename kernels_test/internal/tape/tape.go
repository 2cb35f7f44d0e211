// Package tape keeps what kernels answered on a device, so that a machine without one replays it through the judge.
//
// A tape is a run of one worker: for some of its cases the outputs of every call that judging made, with the hashes of
// the inputs that were sent. Inputs are not kept: they follow from the case. What a tape says is only as good as the
// judge's reference, so each row is vouched for by another implementation that computed the same call in float64 beside
// the device (adapters/python, numpy) and that the judge accepted there.
package tape

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// version of the format. Fields may be added, meanings do not change.
const version = 1

// Tape is a file: a worker's rows.
type Tape struct {
	Version int       `json:"assay-tape"`
	Worker  string    `json:"worker"`  // as it calls itself
	Release string    `json:"release"` // versions of engine, torch, Triton
	Device  string    `json:"device"`
	Seed    string    `json:"seed"` // how inputs follow from a case
	Taken   time.Time `json:"taken"`
	Rows    []Row     `json:"rows"`
}

// Row is a judged case with everything that the worker answered to it.
type Row struct {
	Case     string           `json:"case"` // after it was moved to MadeFor
	Op       string           `json:"op"`
	Facet    string           `json:"facet"`
	Contract string           `json:"contract"`
	MadeFor  map[string][]int `json:"made_for,omitempty"`
	Path     string           `json:"path,omitempty"`
	Accepted bool             `json:"accepted"`
	Gate     string           `json:"gate,omitempty"` // what rejected it, "bound(o)"
	Rho      float64          `json:"rho"`
	Vouched  Vouched          `json:"vouched"`
	Answers  []Answer         `json:"answers"` // in the order of the calls
}

// Vouched is the second reference: accepted by the judge on the machine with the device, at Rho.
type Vouched struct {
	By     string  `json:"by"`
	Rho    float64 `json:"rho"`
	Digest string  `json:"digest"` // of its outputs
}

// Answer is one call's reply.
type Answer struct {
	Inputs  string            `json:"inputs"`            // digest of the call's storages, views, attributes
	Same    *int              `json:"same,omitempty"`    // index of an earlier answer with the same bits
	Outputs map[string]Output `json:"outputs,omitempty"` // by name
}

// Output is a tensor's bits.
type Output struct {
	DType string `json:"dtype"`
	Data  []byte `json:"data"`
}

// Digest identifies what a call asks for: its inputs as they lie in memory, views, attributes and outputs.
func Digest(c bench.Call) (string, error) {
	h := sha256.New()
	head, err := json.Marshal([]any{c.Op, c.Mode, c.Attrs, c.Views, c.Outputs})
	if err != nil {
		return "", err
	}
	h.Write(head)
	for _, name := range slices.Sorted(maps.Keys(c.Storage)) {
		raw, err := c.Storage[name].Bytes()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s %d;", name, c.Storage[name].DType, len(raw))
		h.Write(raw)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// pack turns a reply's outputs into bits, and their digest.
func pack(outputs map[string]bench.Storage) (map[string]Output, string, int, error) {
	out, h, n := map[string]Output{}, sha256.New(), 0
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		raw, err := outputs[name].Bytes()
		if err != nil {
			return nil, "", 0, err
		}
		out[name] = Output{outputs[name].DType, raw}
		fmt.Fprintf(h, "%s %d;", name, len(raw))
		h.Write(raw)
		n += len(raw)
	}
	return out, hex.EncodeToString(h.Sum(nil)[:12]), n, nil
}

// Write writes a tape as <folder>/<worker>.json.gz, by a temporary file.
func (t Tape) Write(folder string) (name string, err error) {
	t.Version = version
	raw, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err = z.Write(raw); err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("the folder for tapes cannot be made (ASSAY_TAPES names another): %w", err)
	}
	name = filepath.Join(folder, t.Worker+".json.gz")
	if err := os.WriteFile(name+".part", packed.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("the tape cannot be written: %w", err)
	}
	return name, os.Rename(name+".part", name)
}

// Read reads a tape.
func Read(fsys fs.FS, name string) (t Tape, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return t, fmt.Errorf("%s is not gzip: %w", name, err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return t, fmt.Errorf("%s is cut short or damaged: %w", name, err)
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return t, fmt.Errorf("%s is no tape: %w", name, err)
	}
	if t.Version != version {
		return t, fmt.Errorf("%s is a tape of version %d, and this reads version %d; record it again", name, t.Version,
			version)
	}
	return t, nil
}
