package golden

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Page compares a committed text that a test makes, a page of docs, with what it should be. With -update it is
// rewritten instead, where it differs.
func Page(t testing.TB, path, want string) {
	t.Helper()
	pageIn(t, Updating(), path, want)
}

func pageIn(t testing.TB, updating bool, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		t.Error(err)
	case err == nil && string(got) == want:
	case updating:
		err := mayUpdate(path)
		if err == nil {
			err = writeFile(path, []byte(want))
		}
		if err != nil {
			t.Error(err)
		}
	case err != nil:
		t.Errorf("%v\n%s", err, commands(t))
	default:
		t.Errorf("%s is not what the test makes (-committed +made):\n%s%s", path, cmp.Diff(string(got), want), commands(t))
	}
}
