package endpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const redacted = "[REDACTED]"

// shortestSecret is the length in bytes below which a key is taken for a placeholder ("EMPTY", "none", "x"):
// it protects nothing, and replacing it would falsify answers that contain it.
const shortestSecret = 8

// redactor replaces the API key, in the spellings a server may echo it in, by a fixed word.
type redactor struct{ spellings []string }

func newRedactor(key string) redactor {
	if len(key) < shortestSecret {
		return redactor{}
	}
	all := []string{key, url.QueryEscape(key), url.PathEscape(key), base64.StdEncoding.EncodeToString([]byte(key))}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(key) == nil {
		all = append(all, strings.Trim(strings.TrimSpace(plain.String()), `"`))
	}
	if b, err := json.Marshal(key); err == nil {
		all = append(all, strings.Trim(string(b), `"`))
	}
	var r redactor
	for _, s := range all {
		if s != "" && !slices.Contains(r.spellings, s) {
			r.spellings = append(r.spellings, s)
		}
	}
	return r
}

func (r redactor) text(s string) string {
	for _, k := range r.spellings {
		s = strings.ReplaceAll(s, k, redacted)
	}
	return s
}

func (r redactor) bytes(b []byte) []byte {
	for _, k := range r.spellings {
		if bytes.Contains(b, []byte(k)) { // ReplaceAll copies in any case
			b = bytes.ReplaceAll(b, []byte(k), []byte(redacted))
		}
	}
	return b
}

// stream redacts the bytes of an event stream. A key that came in pieces is in none of the lines: the pieces show
// when they are joined, and the whole stream is left out then.
func (r redactor) stream(b []byte, a *reply) []byte {
	joined := []string{a.content.text(), a.reasoning.text()}
	for _, t := range a.calls.list {
		joined = append(joined, t.Name, t.Arguments)
	}
	for _, s := range joined {
		if r.text(s) != s {
			return []byte(redacted + ": the stream repeats the API key, and so it was not kept\n")
		}
	}
	return r.bytes(b)
}
