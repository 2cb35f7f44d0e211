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
	pkg, err := shardsOf(folders)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		fmt.Println("verdict usage")
		os.Exit(usageError)
	}
	return job(ctx, pkg, "", "^TestMerge$", "-assay.merge="+folders)
}

// shardsOf is the package whose cases the first ledger in or below some folders holds.
func shardsOf(folders string) (pkg string, err error) {
	for pattern := range strings.SplitSeq(folders, ",") {
		matches, err := filepath.Glob(strings.TrimSpace(pattern))
		if err != nil {
			return "", fmt.Errorf("%q is no pattern for folders: %w", pattern, err)
		}
		for _, m := range matches {
			err := filepath.WalkDir(m, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || d.Name() != "results.jsonl" {
					return err
				}
				raw, err := os.ReadFile(path)
				line, _, _ := bytes.Cut(raw, []byte("\n"))
				var first struct{ Case string }
				if err == nil && json.Unmarshal(line, &first) == nil {
					pillar, _, _ := strings.Cut(first.Case, "/")
					pkg = map[string]string{"fidelity": "./fidelity", "kernels": "./kernels_test"}[pillar]
				}
				if pkg != "" {
					return fs.SkipAll
				}
				return err
			})
			if pkg != "" || err != nil {
				return pkg, err
			}
		}
	}
	return "", fmt.Errorf("%q holds no run folder of shards, which has a results.jsonl of fidelity or kernels; name them "+
		"as in go tool mage merge \"artifacts/*\"", folders)
}
