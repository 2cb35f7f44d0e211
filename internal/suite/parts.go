package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// ShardRecord is the first line of a shard's ledger, <pillar>/shard: which part it is, and what all parts must share.
type ShardRecord struct {
	Index int `json:"index"`
	Count int `json:"count"`
	// Binary is the SHA-256 of the test binary.
	Binary string `json:"binary"`
	// Tags are the build tags of that binary, so that mage merge can build it again.
	Tags string `json:"tags,omitempty"`
	// Same holds what decides about results: budget, goldens, seeds, how cases are assigned. It is equal in all parts.
	Same map[string]string `json:"same"`
	// Own is what else the pillar's merge needs of this part.
	Own json.RawMessage `json:"own,omitempty"`
}

// LedgerFile is the name of a run's ledger in its folder.
const LedgerFile = "results.jsonl"

// The lines of a ledger that concern the shard and no case.
const (
	shardLine = "/shard"
	mergeLine = "/merge"
	doneLine  = "/shard/done"
)

// Begun is the line that a shard begins with.
func (r ShardRecord) Begun(pillar string) (Result, error) {
	var err error
	if r.Binary, err = ownHash(); err != nil {
		return Result{}, err
	}
	r.Tags = ownTags()
	raw, err := json.Marshal(r)
	return Result{Case: pillar + shardLine, Outcome: Passed, Optional: true, Detail: raw}, err
}

// ShardDone is the line that a shard ends with: without it the shard is half-written. detail is what its pillar's merge
// needs besides, nil for nothing.
func ShardDone(pillar string, detail any) (Result, error) {
	raw, err := json.Marshal(detail)
	return Result{Case: pillar + doneLine, Outcome: Passed, Optional: true, Detail: raw}, err
}

// MergeBegun is the line that a merge begins with, so that its folder may lie among those of the shards.
func MergeBegun(pillar string) Result {
	return Result{Case: pillar + mergeLine, Outcome: Passed, Optional: true}
}

// ownTags are the build tags of this binary.
func ownTags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}

// ownHash is the SHA-256 of this binary.
var ownHash = sync.OnceValues(func() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this binary cannot be found, to say in the ledger which it is: %w", err)
	}
	f, err := os.Open(exe)
	if err != nil {
		return "", fmt.Errorf("this binary cannot be read, to say in the ledger which it is: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("this binary cannot be read, to say in the ledger which it is: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// Part is the ledger of one shard.
type Part struct {
	Folder string
	ShardRecord
	Results []Result        // of its cases, without the lines about the shard
	Done    bool            // it has its last line
	End     json.RawMessage // detail of that
	Merged  bool            // it is what a merge left, and no shard
}

// ReadPart reads the run folder of a shard of a pillar. is is false where the folder's ledger is of no shard.
func ReadPart(pillar, folder string) (p Part, is bool, err error) {
	results, err := ReadLedgerFile(filepath.Join(folder, LedgerFile))
	if err != nil {
		return p, false, err
	}
	p.Folder = folder
	for _, r := range results {
		switch {
		case strings.HasSuffix(r.Case, doneLine):
			p.Done, p.End = true, r.Detail
		case r.Case == pillar+shardLine:
			if err := json.Unmarshal(r.Detail, &p.ShardRecord); err != nil {
				return p, false, fmt.Errorf("%s: the line about the shard cannot be read: %w", folder, err)
			}
			is = p.Count > 0
		case r.Case == pillar+mergeLine:
			return Part{Folder: folder, Merged: true}, false, nil
		case strings.HasSuffix(r.Case, shardLine):
			return p, false, fmt.Errorf("%s is a shard of %s, and this merges %s: merge one pillar at a time: %w", folder,
				strings.TrimSuffix(r.Case, shardLine), pillar, ErrShards)
		default:
			p.Results = append(p.Results, r)
		}
	}
	return p, is, nil
}

// RunFolders are the folders with a ledger in or below what a comma list of globs names, sorted.
func RunFolders(patterns string) ([]string, error) {
	var out []string
	for pattern := range strings.SplitSeq(patterns, ",") {
		matches, err := filepath.Glob(strings.TrimSpace(pattern))
		if err != nil {
			return nil, fmt.Errorf("%q is no pattern for folders: %w", pattern, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("%q matches nothing: name the run folders of the shards, as in \"artifacts/*\"", pattern)
		}
		for _, m := range matches {
			err := filepath.WalkDir(m, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && d.Name() == LedgerFile {
					out = append(out, filepath.Dir(path))
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("%q cannot be searched for run folders: %w", m, err)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Unfinished is the newest run folder under parent of the shard s that has no last line and began with the same record;
// empty where there is none. A scheduler that restarts a shard need not know its folder.
func Unfinished(pillar, parent string, want ShardRecord) (string, error) {
	folders, err := RunFolders(parent)
	if err != nil {
		return "", err
	}
	want.Own = nil
	line, err := want.Begun(pillar)
	if err != nil {
		return "", err
	}
	for _, folder := range slices.Backward(folders) {
		p, is, err := ReadPart(pillar, folder)
		if err != nil || !is || p.Done || len(p.Results) == 0 {
			continue // another's business
		}
		p.Own = nil
		if was, err := p.Begun(pillar); err == nil && bytes.Equal(was.Detail, line.Detail) {
			return folder, nil
		}
	}
	return "", nil
}
