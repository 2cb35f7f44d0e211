package candidate

import (
	"fmt"
	"strings"
	"sync"
)

// tail keeps the last bytes that were written to it.
type tail struct {
	mu      sync.Mutex
	limit   int
	kept    []byte
	dropped int64
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(p) - t.limit; over > 0 {
		t.dropped += int64(over + len(t.kept))
		t.kept = append(t.kept[:0], p[over:]...)
		return len(p), nil
	}
	if over := len(t.kept) + len(p) - t.limit; over > 0 {
		t.dropped += int64(over)
		t.kept = t.kept[:copy(t.kept, t.kept[over:])]
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

// String returns what is kept, with a first line that says how much is not.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped > 0 {
		return fmt.Sprintf("[%d earlier bytes dropped]\n%s", t.dropped, t.kept)
	}
	return string(t.kept)
}

// written counts every byte so far.
func (t *tail) written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped + int64(len(t.kept))
}

// since returns what was written after mark bytes, at most the last n of it.
func (t *tail) since(mark int64, n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.dropped + int64(len(t.kept)) - mark
	fresh = min(fresh, int64(len(t.kept)), int64(n))
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept[int64(len(t.kept))-fresh:]), "\ufffd"))
}
