package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html/template"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// redacted is what stands where a secret stood.
const redacted = "[redacted]"

// wholeWord is the length in bytes below which a secret is only replaced as a whole
// word: a key such as "EMPTY" or "test" is also a common piece of ordinary text.
const wholeWord = 8

// Redactor replaces secrets by "[redacted]". The nil *Redactor replaces nothing.
type Redactor struct {
	forms []string // literal forms of all secrets, longest first
}

// Redact returns a Redactor for the given secrets; empty ones are ignored, space
// around them too (a key read from a file ends in a line break). Each is also found
// as HTML, XML, JSON, URL and shell quoting would spell it.
func Redact(secrets ...string) *Redactor {
	seen := map[string]bool{"": true}
	r := &Redactor{}
	for _, s := range secrets {
		for _, form := range spellings(strings.TrimSpace(s)) {
			if !seen[form] {
				seen[form] = true
				r.forms = append(r.forms, form)
			}
		}
	}
	slices.SortFunc(r.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return r
}

// spellings lists s as the formats of this package and stored requests spell it.
func spellings(s string) []string {
	out := []string{
		s,
		template.HTMLEscapeString(s),
		strings.ReplaceAll(template.HTMLEscapeString(s), "+", "&#43;"), // as html/template does
		url.QueryEscape(s),
		url.PathEscape(s),
		strings.ReplaceAll(s, "'", `'\''`),
	}
	var x bytes.Buffer
	if xml.EscapeText(&x, []byte(s)) == nil {
		out = append(out, x.String())
	}
	for _, escapeHTML := range []bool{true, false} {
		var j bytes.Buffer
		enc := json.NewEncoder(&j)
		enc.SetEscapeHTML(escapeHTML)
		if enc.Encode(s) == nil {
			out = append(out, strings.Trim(strings.TrimSpace(j.String()), `"`))
		}
	}
	return out
}

// String returns s without the secrets.
func (r *Redactor) String(s string) string {
	if r == nil || len(r.forms) == 0 {
		return s
	}
	var b strings.Builder
	w := r.Writer(&b)
	_, _ = io.WriteString(w, s) // a Builder never fails
	_ = w.Close()
	return b.String()
}

// Run returns a deep copy of run in which every text is redacted. Redacting before
// anything is cut, wrapped or escaped leaves no half of a secret behind.
func (r *Redactor) Run(run Run) Run {
	if r == nil || len(r.forms) == 0 {
		return run
	}
	reflect.ValueOf(&run).Elem().Set(r.value(reflect.ValueOf(run))) // run is a copy already
	return run
}

// value copies v with every reachable string redacted.
func (r *Redactor) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(r.String(v.String())).Convert(v.Type())
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.value(v.Index(i)))
		}
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(r.value(v.Elem()))
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v) // unexported fields (time.Time) as they are
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(r.value(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// Writer returns a writer to w that replaces secrets also where they are split over
// several writes. Close flushes what it held back; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	rw := &redactWriter{w: w, last: ' '}
	if r != nil {
		rw.forms = r.forms
	}
	return rw
}

// markup returns the Redactor for text that already contains markup. Short secrets
// are left to Run: as whole words they could be names of tags or attributes.
func (r *Redactor) markup() *Redactor {
	out := &Redactor{}
	if r != nil {
		for _, f := range r.forms {
			if len(f) >= wholeWord {
				out.forms = append(out.forms, f)
			}
		}
	}
	return out
}

type redactWriter struct {
	w     io.Writer
	forms []string
	buf   []byte
	last  byte // byte before buf, for whole words
	err   error
}

func (rw *redactWriter) Write(p []byte) (int, error) {
	if rw.err != nil {
		return 0, rw.err
	}
	rw.buf = append(rw.buf, p...)
	if rw.flush(false); rw.err != nil {
		return 0, rw.err
	}
	return len(p), nil
}

func (rw *redactWriter) Close() error {
	if rw.err == nil {
		rw.flush(true)
	}
	return rw.err
}

// flush writes out what can no longer be part of a secret: everything when all is
// set, otherwise all but a tail as long as the longest secret and the byte after it.
func (rw *redactWriter) flush(all bool) {
	hold := 0
	if len(rw.forms) > 0 && !all {
		hold = len(rw.forms[0]) + 1
	}
	for {
		at, n := rw.find(all)
		if n == 0 {
			break
		}
		rw.out(rw.buf[:at], len(rw.buf[:at]))
		rw.out([]byte(redacted), 0)
		rw.last = rw.buf[n-1]
		rw.buf = rw.buf[n:]
	}
	if n := len(rw.buf) - hold; n > 0 {
		rw.out(rw.buf[:n], n)
	}
}

// out writes p and drops the first drop bytes of buf, which p may be.
func (rw *redactWriter) out(p []byte, drop int) {
	if len(p) == 0 || rw.err != nil {
		return
	}
	_, rw.err = rw.w.Write(p)
	if drop > 0 {
		rw.last = p[len(p)-1]
		rw.buf = rw.buf[drop:]
	}
}

// find returns where the first secret begins in buf and its length, the longest if
// several begin there; length 0 if there is none that is certain yet.
func (rw *redactWriter) find(all bool) (at, n int) {
	at = -1
	for _, f := range rw.forms { // longest first, so an equal position never replaces
		if i := rw.index(f, all); i >= 0 && (at < 0 || i < at) {
			at, n = i, len(f)
		}
	}
	return at, n
}

// index is the position of form in buf, as a whole word if it is short, or -1.
func (rw *redactWriter) index(form string, all bool) int {
	from := 0
	for {
		i := bytes.Index(rw.buf[from:], []byte(form))
		if i < 0 {
			return -1
		}
		i += from
		if len(form) >= wholeWord {
			return i
		}
		before, after, end := rw.last, byte(' '), i+len(form)
		if i > 0 {
			before = rw.buf[i-1]
		}
		if end < len(rw.buf) {
			after = rw.buf[end]
		} else if !all {
			return -1 // the next write decides
		}
		if !wordByte(before) && !wordByte(after) {
			return i
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
