package quant

import "bytes"

// PlainJSON replaces NaN, Infinity and -Infinity, which Python's json module writes and reads and Go's refuses, by
// null. Text inside strings is left alone. raw is returned as it is where it has none.
func PlainJSON(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("NaN")) && !bytes.Contains(raw, []byte("Infinity")) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] == '"' {
			end := i + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(raw))
			out = append(out, raw[i:end]...)
			i = end
			continue
		}
		matched := false
		for _, word := range []string{"-Infinity", "Infinity", "NaN"} {
			if bytes.HasPrefix(raw[i:], []byte(word)) {
				out = append(out, "null"...)
				i += len(word)
				matched = true
				break
			}
		}
		if !matched {
			out = append(out, raw[i])
			i++
		}
	}
	return out
}
