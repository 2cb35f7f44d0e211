//go:build mage

// Targets for runs that are spread over machines.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// usageError is the exit code for a command that makes no sense, suite.UsageError.
const usageError = 2

// Merge judges the shards of one run, "DIR/*" or a comma list of globs of their run folders, over all their cases: one
// report and one exit code (docs/fleet.md).
func Merge(ctx context.Context, folders string) error {
	pkg, tags, err := shardsOf(folders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		fmt.Println("verdict usage")
		os.Exit(usageError)
	}
	return job(ctx, pkg, tags, "^TestMerge$", "-assay.merge="+folders)
}

// shardsOf is the package, and the build tags, of the first shard's ledger in or below some folders: shards are merged
// by the binary that ran them.
func shardsOf(folders string) (pkg, tags string, err error) {
	for pattern := range strings.SplitSeq(folders, ",") {
		matches, err := filepath.Glob(strings.TrimSpace(pattern))
		if err != nil {
			return "", "", fmt.Errorf("%q is no pattern for folders: %w", pattern, err)
		}
		for _, m := range matches {
			err := filepath.WalkDir(m, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || d.Name() != "results.jsonl" {
					return err
				}
				raw, err := os.ReadFile(path)
				for line := range bytes.Lines(raw) {
					var r struct {
						Case   string
						Detail struct{ Tags string }
					}
					if json.Unmarshal(line, &r) == nil && r.Case == "fidelity/shard" { // of the pillars, the one that merges
						pkg, tags = "./fidelity", r.Detail.Tags
						break
					}
				}
				if pkg != "" {
					return fs.SkipAll
				}
				return err
			})
			if pkg != "" || err != nil {
				return pkg, tags, err
			}
		}
	}
	return "", "", fmt.Errorf("%q holds no run folder of a shard of the main job or of live; name them "+
		"as in go tool mage merge \"artifacts/*\"", folders)
}
