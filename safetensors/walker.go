package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// walker reads one JSON document token by token and knows the byte of every token.
//
// A plain json.Unmarshal would keep the last of two equal keys and ignore unknown fields, which are
// exactly the files in which two readers see different tensors.
type walker struct {
	file   string
	tensor string // the entry being read, for errors
	raw    []byte
	base   int64 // offset of raw in the file
	dec    *json.Decoder
	at     int64 // offset of the latest token in the file
}

func newWalker(file string, raw []byte, base int64) *walker {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return &walker{file: file, raw: raw, base: base, dec: dec}
}

func (w *walker) fail(at int64, format string, args ...any) error {
	return w.failure(at, format, args...)
}

func (w *walker) failure(at int64, format string, args ...any) *FormatError {
	return &FormatError{File: w.file, Tensor: clip(w.tensor), Offset: at, Problem: fmt.Sprintf(format, args...)}
}

// checkUTF8 refuses a document that is not UTF-8: encoding/json would replace the bad bytes, and two
// different names could become one.
func (w *walker) checkUTF8() error {
	if utf8.Valid(w.raw) {
		return nil
	}
	i := 0
	for i < len(w.raw) {
		r, n := utf8.DecodeRune(w.raw[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	return w.fail(w.base+int64(i), "the JSON is not valid UTF-8 (byte 0x%02x); %s", w.raw[i], fixWriter)
}

func (w *walker) token() (json.Token, error) {
	start := int(w.dec.InputOffset())
	for start < len(w.raw) && (isBlank(w.raw[start]) || w.raw[start] == ',' || w.raw[start] == ':') {
		start++
	}
	w.at = w.base + int64(start)
	tok, err := w.dec.Token()
	if err == nil {
		if _, isText := tok.(string); isText && loneSurrogate(w.raw[start:w.dec.InputOffset()]) {
			return nil, w.fail(w.at, "a string has half a surrogate pair (\\ud800 to \\udfff alone) and names no character; %s",
				fixWriter)
		}
		return tok, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, w.fail(w.base+int64(len(w.raw)), "the JSON ends before it is complete; %s", fixDownload)
	}
	failure := w.failure(w.at, "the JSON is malformed here; %s", fixWriter)
	failure.Err = err
	return nil, failure
}

// text reads one string; what names it in errors.
func (w *walker) text(what string) (string, error) {
	tok, err := w.token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", w.fail(w.at, "%s must be a string, not %s; %s", what, kindOf(tok), fixWriter)
	}
	return s, nil
}

// natural takes a token as an integer in [0, limit].
func (w *walker) natural(tok json.Token, what string, limit int64) (int64, error) {
	num, ok := tok.(json.Number)
	if !ok {
		return 0, w.fail(w.at, "%s must be a non-negative integer, not %s; %s", what, kindOf(tok), fixWriter)
	}
	// ParseUint takes digits only: "-1", "-0", "2.0" and "1e3" are refused, as by the Rust reader.
	n, err := strconv.ParseUint(num.String(), 10, 63)
	if err != nil || int64(n) > limit {
		return 0, w.fail(w.at, "%s is %s, but must be an integer from 0 to %d; %s", what, clip(num.String()), limit,
			fixWriter)
	}
	return int64(n), nil
}

// integers reads an array of integers in [0, limit].
func (w *walker) integers(what string, limit int64) ([]int64, error) {
	tok, err := w.token()
	if err != nil {
		return nil, err
	}
	if tok != json.Delim('[') {
		return nil, w.fail(w.at, "%s must be an array of integers, not %s; %s", what, kindOf(tok), fixWriter)
	}
	list := []int64{}
	for {
		tok, err := w.token()
		if err != nil {
			return nil, err
		}
		if tok == json.Delim(']') {
			return list, nil
		}
		n, err := w.natural(tok, what, limit)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
}

// object reads one object and calls each with every key and its byte; a repeated key is an error.
func (w *walker) object(what string, each func(key string, at int64) error) error {
	tok, err := w.token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return w.fail(w.at, "%s must be a JSON object, not %s; %s", what, kindOf(tok), fixWriter)
	}
	seen := map[string]int64{}
	for {
		tok, err := w.token()
		if err != nil {
			return err
		}
		if tok == json.Delim('}') {
			return nil
		}
		key, isText := tok.(string)
		at := w.at
		if !isText {
			return w.fail(at, "a key of %s must be a string, not %s; %s", what, kindOf(tok), fixWriter)
		}
		if first, twice := seen[key]; twice {
			return w.fail(at, "%s has the key %q twice (first at byte %d), so readers disagree on what it holds; %s", what,
				clip(key), first, fixWriter)
		}
		seen[key] = at
		if err := each(key, at); err != nil {
			return err
		}
	}
}

// end refuses anything but white space after the document.
func (w *walker) end() error {
	for i := int(w.dec.InputOffset()); i < len(w.raw); i++ {
		if !isBlank(w.raw[i]) {
			return w.fail(w.base+int64(i), "0x%02x stands after the JSON object, where only padding with blanks may; %s",
				w.raw[i], fixWriter)
		}
	}
	return nil
}

// isBlank is JSON's white space: the format pads with 0x20, its reference reader takes all four.
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

func kindOf(tok json.Token) string {
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return "an object"
		}
		return "an array"
	case string:
		return "the string " + strconv.Quote(clip(v))
	case json.Number:
		return "the number " + clip(v.String())
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}

// loneSurrogate tells whether a JSON string literal holds an unpaired \uD800-\uDFFF, which
// encoding/json turns into U+FFFD without a word.
func loneSurrogate(literal []byte) bool {
	high := false
	for i := 0; i < len(literal); i++ {
		unit := uint64(0)
		if literal[i] == '\\' {
			if i+5 < len(literal) && literal[i+1] == 'u' {
				unit, _ = strconv.ParseUint(string(literal[i+2:i+6]), 16, 16)
				i += 5
			} else {
				i++
			}
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if low != high {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
	}
	return false // the closing quote came after the last unit, so no pair is open
}
