package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
)

// mergeBody returns the body of a request with fields set. Keys come out in a fixed order, so equal requests are equal
// bytes.
func mergeBody(req *http.Request, set map[string]any) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	raw, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("endpoint: reading the request to send: %w", err)
	}
	if len(set) == 0 {
		return raw, nil
	}
	return merge(raw, set)
}

// merge returns object, which encoding/json wrote, with the fields of set in place of its own or behind them.
func merge(object []byte, set map[string]any) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(object) + 64*len(set))
	out.WriteByte('{')
	field := func(name string, value []byte) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(name)
		out.WriteByte(':')
		out.Write(value)
	}
	for rest := object[1:]; len(rest) > 1; {
		name, value, after := member(rest)
		if _, ours := set[string(name[1:len(name)-1])]; !ours {
			field(string(name), value)
		}
		rest = after
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		value, err := encoded(set[name])
		if err != nil {
			return nil, fmt.Errorf("endpoint: request field %q: %w", name, err)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("endpoint: request field %q: %w", name, err)
		}
		field(string(key), value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func encoded(v any) ([]byte, error) {
	if raw, is := v.(json.RawMessage); is {
		return raw, nil // json.Marshal would read it once more
	}
	return json.Marshal(v)
}

// member takes "name":value off the members of an object, with the comma behind it. It jumps over texts: decoding a
// long prompt once more would cost more than the rest of a request.
func member(rest []byte) (name, value, after []byte) {
	end := quoted(rest)
	name, rest = rest[:end], rest[end+1:]
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			i += quoted(rest[i:]) - 1
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}'):
			return name, rest[:i], rest[i+1:]
		case c == '}' || c == ']':
			depth--
		}
	}
	return name, rest, nil // not what encoding/json writes
}

// quoted returns the length of the JSON string that b begins with.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			break
		}
		i += next
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}
