package endpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// keptComments is how many keep-alive comments stay in the stored answer; all are counted.
const keptComments = 32

// sse reads an event stream. go-openai's own reader is not used: it counts keep-alive comments towards a limit of
// 300 and knows one spelling of an error event only.
//
// Comments count as life, without limit, and not towards the size of the answer. A stream is complete with [DONE]
// after a piece of an answer, or with a finish reason. After the finish reason it waits Limits.Linger for the
// usage and [DONE], no longer: some servers leave the connection open.
type sse struct {
	in       *meter
	lines    *bufio.Reader
	limit    int64
	kept     bytes.Buffer
	comments int
	failed   bool // the event at hand is named "error"
	data     []byte
	has      bool // data holds an event's lines; an empty one counts
}

// read takes the stream into r. first is called at the first piece of text, reasoning or tool calls.
func (s *sse) read(r *reply, first func()) error {
	for {
		line, comment, err := s.line()
		if large, ok := errors.AsType[*TooLargeError](err); ok {
			return large
		}
		line = bytes.TrimRight(line, "\r\n")
		if !comment {
			s.field(line)
		}
		if s.has && (len(line) == 0 && !comment || err != nil || s.complete()) {
			done, e := s.dispatch(r)
			if e != nil {
				return e
			}
			if r.pieces > 0 {
				first()
			}
			if done {
				return s.end(r, true)
			}
			if r.finish != "" {
				s.in.watch.linger(s.in.watch.limits.Linger)
			}
		}
		if errors.Is(err, io.EOF) {
			return s.end(r, false)
		}
		if err != nil {
			if r.finish != "" && s.in.watch.lingering() {
				return s.end(r, false)
			}
			return cutOff(err, s.in.got)
		}
	}
}

func (s *sse) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if s.has {
			s.data = append(s.data, '\n')
		}
		s.data, s.has = append(s.data, value...), true
	case "error": // llama.cpp, older
		s.data, s.has, s.failed = append(s.data, value...), true, true
	case "event":
		s.failed = string(value) == "error"
	}
}

// complete reports whether the event is whole before its blank line: some servers separate events by one newline
// only. Where the blank line is at hand it decides.
func (s *sse) complete() bool {
	if s.lines.Buffered() > 0 {
		if next, err := s.lines.Peek(1); err == nil && (next[0] == '\n' || next[0] == '\r') {
			return false
		}
	}
	return string(bytes.TrimSpace(s.data)) == "[DONE]" || json.Valid(s.data)
}

func (s *sse) dispatch(r *reply) (done bool, err error) {
	data, failed := s.data, s.failed
	s.data, s.has, s.failed = s.data[:0], false, false
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(trimmed) == 0:
		return false, nil
	case string(trimmed) == "[DONE]":
		return true, nil
	}
	if err := r.add(data); err != nil {
		return false, err
	}
	if failed {
		return false, &StatusError{Message: string(trimmed), Where: "stream"}
	}
	return false, nil
}

// end judges a stream that is over, and reads what little is left of it, so that the connection can be used again.
func (s *sse) end(r *reply, done bool) error {
	if done {
		s.in.watch.linger(min(s.in.watch.limits.Linger, 50*time.Millisecond))
		_, _ = io.CopyN(io.Discard, s.lines, 4<<10) // whatever is wrong here, the answer is complete
	}
	switch {
	case r.finish != "" && !done:
		r.note(NoteDoneMissing, "the stream ended without [DONE]")
	case r.finish != "":
	case done && r.pieces > 0:
		r.note(NoteFinishMissing, "the stream ended with [DONE] and without a finish reason")
	case done:
		return &TruncatedError{
			Got:     s.in.got,
			Nothing: true,
			Why:     fmt.Sprintf("the stream ended without a finish_reason after %d events", r.events),
		}
	default:
		return &TruncatedError{
			Got: s.in.got,
			Why: fmt.Sprintf("the stream ended without a finish_reason after %d events", r.events),
		}
	}
	return nil
}

// line reads up to a newline. A comment is read to its end, however long, and not returned.
func (s *sse) line() (line []byte, comment bool, err error) {
	for {
		part, err := s.lines.ReadSlice('\n')
		if s.in.got == int64(len(part)+s.lines.Buffered()) {
			part = bytes.TrimPrefix(part, []byte("\ufeff"))
		}
		if len(line) == 0 && !comment && len(part) > 0 && part[0] == ':' {
			comment = true
			s.comments++
		}
		if !comment || s.comments <= keptComments && len(part) < 256 {
			if int64(s.kept.Len()+len(part)) > s.limit {
				return nil, false, &TooLargeError{Limit: s.limit}
			}
			s.kept.Write(part)
		}
		if !comment {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, comment, err
		}
	}
}
