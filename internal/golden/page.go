package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sebdah/goldie/v2"
)

// Page compares a committed text that a test makes, a page of docs, with what it should be. With -update it is
// rewritten instead, where it differs.
func Page(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		t.Error(err)
	case Updating():
		if missing || string(got) != want {
			err := mayUpdate(path)
			if err == nil {
				err = write(t, path, []byte(want))
			}
			if err != nil {
				t.Error(err)
			}
		}
	case missing:
		t.Errorf("%v\n%s", err, commands(t))
	default:
		goldie.New(t, goldie.WithFixtureDir(filepath.Dir(path)), goldie.WithNameSuffix(""),
			goldie.WithDiffFn(func(made, committed string) string {
				return fmt.Sprintf("%s is not what the test makes:\n%s%s", path,
					goldie.Diff(goldie.ClassicDiff, made, committed), commands(t))
			})).Assert(t, filepath.Base(path), []byte(want))
	}
}
