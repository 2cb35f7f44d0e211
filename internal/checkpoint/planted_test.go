package checkpoint_test

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// plant is one kind of damage done to a copy of a shipped folder.
type plant struct {
	name   string
	folder string
	damage func(f *folder)
	kind   string // the finding that must be raised
	about  string // a tensor (release name) that it must list; "" when no tensor is at fault
	base   bool   // needs the fp32 original beside it
	quick  bool   // is found by headers and class scan
	also   []string
}

// check plants, examines, and wants the finding by kind and tensor, and no finding of a kind that the
// damage does not imply.
func check(t *testing.T, plants []plant) {
	t.Helper()
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, p.folder)
			p.damage(f)
			var base fs.FS
			if p.base {
				base = shipped(t, "nano-v4")
			}
			r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{
				Base:     base,
				ScanOnly: p.quick,
			})
			require.NoError(t, err)
			hit := false
			for _, x := range r.Findings {
				lists := slices.ContainsFunc(x.Tensors, func(s string) bool { return checkpoint.Canonical(s) == p.about })
				switch {
				case x.Kind == p.kind && (p.about == "" || lists):
					if !hit {
						t.Logf("found: %s", x)
					}
					hit = true
					if !strings.ContainsAny(x.Text, ";:") {
						t.Errorf("the sentence does not say what to do: %q", x.Text)
					}
				case !slices.Contains(p.also, x.Kind):
					t.Errorf("beside %s also: %s %q", p.kind, x, x.Tensors)
				}
			}
			if !hit {
				t.Errorf("planted %s at %q; found %v", p.kind, p.about, r.Findings)
			}
		})
	}
}
