package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRedactString(t *testing.T) {
	for _, row := range []struct{ name, secret, in, want string }{
		{"plain", "sk-canary-0123", "key sk-canary-0123.", "key [redacted]."},
		{"inside a word", "sk-canary-0123", "xsk-canary-0123y", "x[redacted]y"},
		{"twice, adjacent", "sk-canary-0123", "sk-canary-0123sk-canary-0123", "[redacted][redacted]"},
		{"from a file with its line break", "sk-canary-0123\n", "sk-canary-0123", "[redacted]"},
		{"short key as a word", "EMPTY", "Bearer EMPTY and EMPTYING", "Bearer [redacted] and EMPTYING"},
		{"short key at both ends", "test", "test tests attest test", "[redacted] tests attest [redacted]"},
		{"HTML", `a"b<c+d&e'f`, "x a&#34;b&lt;c&#43;d&amp;e&#39;f y", "x [redacted] y"},
		{"JSON", `pass"word\1`, `{"k":"pass\"word\\1"}`, `{"k":"[redacted]"}`},
		{"URL", "k+y/with=signs", "?key=k%2By%2Fwith%3Dsigns", "?key=[redacted]"},
		{"no secret", "", "nothing to hide", "nothing to hide"},
		{"nearly", "sk-canary-0123", "sk-canary-012", "sk-canary-012"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Redact(row.secret).String(row.in); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRedactLongerSecretWins(t *testing.T) {
	if got := Redact("sk-canary", "sk-canary-with-more").String("a sk-canary-with-more b sk-canary c"); got !=
		"a [redacted] b [redacted] c" {
		t.Errorf("got %q", got)
	}
}

// TestRedactWriterSplits: however a text is cut into writes, the result is the one
// that strings.ReplaceAll gives for the whole.
func TestRedactWriterSplits(t *testing.T) {
	const secret = "aab-aab-aaab" // overlaps with itself
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "-", "aab", secret, " ", "aab-aab-"})).Draw(t, "parts")
		var b bytes.Buffer
		w := Redact(secret).Writer(&b)
		for _, p := range parts {
			if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("Write(%q) = %d, %v", p, n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(strings.Join(parts, ""), secret, redacted); b.String() != want {
			t.Fatalf("got %q, want %q", b.String(), want)
		}
	})
}

// TestNoSecretInAnyFile puts a canary into every text of every type and looks for it,
// in any spelling, in every file.
func TestNoSecretInAnyFile(t *testing.T) {
	for _, secret := range []string{"sk-canary-0123456789", `c"a<n>a+r&y' /=\key`, "EMPTY"} {
		t.Run(secret, func(t *testing.T) {
			for _, text := range []string{
				secret, "Authorization: Bearer " + secret + "\nnext", "https://user:" + secret + "@host/v1",
			} {
				r := healthyRun()
				fillStrings(reflect.ValueOf(&r).Elem(), text)
				dir := t.TempDir()
				t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(dir, "summary.md"))
				require.NoError(t, WriteAll(dir, r, Redact(secret)))
				files, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Len(t, files, 4)
				for _, f := range files {
					data, err := os.ReadFile(filepath.Join(dir, f.Name()))
					require.NoError(t, err)
					for _, s := range []string{string(data), html.UnescapeString(string(data))} {
						if strings.Contains(s, secret) {
							t.Errorf("%s contains the secret after %q", f.Name(),
								s[max(0, strings.Index(s, secret)-80):strings.Index(s, secret)])
						}
					}
					if !bytes.Contains(data, []byte(redacted)) {
						t.Errorf("%s does not show that something was redacted", f.Name())
					}
				}
			}
		})
	}
}

// TestCanaryIsSeenWithoutRedaction proves that the test above can fail.
func TestCanaryIsSeenWithoutRedaction(t *testing.T) {
	r := healthyRun()
	fillStrings(reflect.ValueOf(&r).Elem(), "sk-canary-0123456789")
	dir := t.TempDir()
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(dir, "summary.md"))
	require.NoError(t, WriteAll(dir, r, nil))
	for _, name := range []string{HTMLFile, JUnitFile, IncidentFile, "summary.md"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if !bytes.Contains(data, []byte("sk-canary-0123456789")) {
			t.Errorf("%s does not contain the canary even without redaction", name)
		}
	}
}

// TestWriterAloneRedacts: the second line of defence works without the first.
func TestWriterAloneRedacts(t *testing.T) {
	secret := `c"a<n>a+r&y'key`
	r := healthyRun()
	fillStrings(reflect.ValueOf(&r).Elem(), "x "+secret+" y")
	for name, write := range map[string]func(*bytes.Buffer) error{
		"html":  func(b *bytes.Buffer) error { return WriteHTML(b, r) },
		"junit": func(b *bytes.Buffer) error { return WriteJUnit(b, r) },
		"json":  func(b *bytes.Buffer) error { return json.NewEncoder(b).Encode(r.Facts) },
	} {
		var raw, clean bytes.Buffer
		require.NoError(t, write(&raw))
		w := Redact(secret).markup().Writer(&clean)
		_, err := w.Write(raw.Bytes())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		if s := html.UnescapeString(clean.String()); strings.Contains(s, secret) {
			t.Errorf("%s: the secret passes the writer", name)
		}
	}
}

func TestRedactRunLeavesTheOriginal(t *testing.T) {
	a, b := healthyRun(), healthyRun()
	c := Redact("nano-v4").Run(a)
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("Run changed its argument (-before +after):\n%s", diff)
	}
	if c.Title != "embedded [redacted] (fp32)" || !c.Started.Equal(a.Started) ||
		*c.Grids[0].Cells[2][2].Margin != *a.Grids[0].Cells[2][2].Margin {
		t.Errorf("copy is wrong: %q, %v", c.Title, c.Started)
	}
	for _, r := range []*Redactor{nil, Redact(), Redact("", " ")} {
		if diff := cmp.Diff(b, r.Run(a)); diff != "" {
			t.Errorf("nothing is secret, yet (-want +got):\n%s", diff)
		}
	}
}

// TestRedactWriterKeepsTheError: a full disk is reported, also by Close.
func TestRedactWriterKeepsTheError(t *testing.T) {
	w := Redact("sk-canary-0123").Writer(fullDisk{})
	_, err := w.Write(bytes.Repeat([]byte("x"), 100))
	if err == nil || w.Close() == nil {
		t.Errorf("Write %v, Close %v: want errors from both", err, w.Close())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }
