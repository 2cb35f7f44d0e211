package endpoint

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// dialect is what a model's server refused and is asked for differently since.
type dialect struct {
	completion  bool // max_completion_tokens in place of max_tokens
	temperature bool // not sent
	topP        bool // not sent
}

// String is empty for what is asked as always.
func (d dialect) String() string {
	var said []string
	if d.completion {
		said = append(said, "max_completion_tokens is sent in place of max_tokens")
	}
	if d.temperature {
		said = append(said, "temperature is refused and not sent: the server samples by its own default")
	}
	if d.topP {
		said = append(said, "top_p is refused and not sent")
	}
	return strings.Join(said, "; ")
}

// dialects are those of the models of one server.
type dialects struct {
	mu sync.Mutex
	by map[string]dialect
}

func (d *dialects) of(model string) dialect {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by[model]
}

var (
	refusedField = regexp.MustCompile(`(?i)unsupported|not support|only the default|must be omitted|deprecated`)
	temperature  = regexp.MustCompile(`(?i)\btemperature\b`)
	topP         = regexp.MustCompile(`(?i)\btop_p\b`)
)

// learn takes from a refusal what to ask for differently; it reports whether there is something that was not known when
// the request was made in the dialect asked.
func (d *dialects) learn(model string, asked dialect, err error) bool {
	s, ok := errors.AsType[*StatusError](err)
	if !ok || !refusedField.MatchString(s.Message) {
		return false
	}
	switch s.effective() {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
	default:
		return false
	}
	now := asked
	switch {
	case strings.Contains(s.Message, "max_completion_tokens") && strings.Contains(s.Message, "max_tokens"):
		now.completion = true
	case temperature.MatchString(s.Message):
		now.temperature = true
	case topP.MatchString(s.Message):
		now.topP = true
	}
	if now == asked {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil {
		d.by = map[string]dialect{}
	}
	known := d.by[model]
	d.by[model] = dialect{
		known.completion || now.completion, known.temperature || now.temperature, known.topP || now.topP,
	}
	return true
}
