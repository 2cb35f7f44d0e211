package endpoint

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Exchange is what went over the wire for one request: the last attempt's bytes, and how many attempts
// it took. It holds no header but Server, hence no key; where the key stood in a body it is redacted.
type Exchange struct {
	Method   string
	URL      string
	Request  []byte // exact bytes of the request body, unless Redacted
	Redacted bool   // the request body held the key, which was replaced here and not on the wire
	Response []byte // bytes received, redacted, at most Limits.MaxBody; of keep-alive comments only the first
	Status   int
	Server   string        // Server header, bounded
	Tries    int           // attempts, the first included
	Sheds    int           // of these, refused for overload or loading
	Stream   bool          // the server answered with an event stream
	Events   int           // of the stream, with choices; several tokens may share one
	Comments int           // keep-alive lines of the stream
	Wait     time.Duration // to the first body byte of the last attempt
	First    time.Duration // to the first piece of text, reasoning or tool calls of a stream; 0 when none came
	Total    time.Duration // of the last attempt
	Keyed    bool          // a key was sent with it
}

// Curl is a line that repeats the request from the stored body. The key is the shell's own
// $OPENAI_API_KEY; a request that was sent without one has no header for it.
func (e Exchange) Curl(bodyFile string) string {
	var b strings.Builder
	b.WriteString("curl -sS ")
	if e.Stream {
		b.WriteString("-N ")
	}
	b.WriteString(quote(e.URL))
	if e.Keyed {
		b.WriteString(` -H "Authorization: Bearer $OPENAI_API_KEY"`)
	}
	if e.Method != http.MethodGet {
		b.WriteString(" -H 'Content-Type: application/json' --data-binary " + quote("@"+bodyFile))
	}
	return b.String()
}

// Save writes the request body to dir/name.json, the answer to dir/name.response and the curl line,
// meant to be run in dir, to dir/name.sh; each through a temporary file. Slashes in name become "--".
// It returns the base name used.
func (e Exchange) Save(dir, name string) (string, error) {
	base := strings.ReplaceAll(name, "/", "--")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("endpoint: storing request %q: %w", name, err)
	}
	for _, f := range []struct {
		ext  string
		data []byte
	}{
		{".json", e.Request},
		{".response", e.Response},
		{".sh", []byte(e.Curl(base+".json") + "\n")},
	} {
		if err := writeFile(filepath.Join(dir, base+f.ext), f.data); err != nil {
			return "", fmt.Errorf("endpoint: storing request %q: %w", name, err)
		}
	}
	return base, nil
}

func writeFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// quote makes s one word for a POSIX shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./-_", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
