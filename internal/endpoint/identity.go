package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kind is the engine behind an endpoint.
type Kind string

// The engines that are told apart.
const (
	KindUnknown  Kind = "unknown"
	KindVLLM     Kind = "vllm"
	KindSGLang   Kind = "sglang"
	KindLlamaCPP Kind = "llama.cpp"
)

// Field is one thing that a server says about itself: Name is route, then the path inside its answer, in dots.
type Field struct{ Name, Value string }

// Identity is what a server's read-only routes say about it.
type Identity struct {
	Kind    Kind
	Version string
	Fields  []Field  // by name; values that change by themselves are left out, secrets are redacted
	Hash    string   // SHA-256 of Fields in hex; equal for equal builds with equal flags; empty without fields
	Routes  []string // identity routes that answered
	Paths   []string // routes that the server says it has (openapi), nil where it does not say
}

// Value returns a field's value.
func (i Identity) Value(name string) (string, bool) {
	for _, f := range i.Fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}

// Differences lists what differs between two identities, one line a field, by name.
func (i Identity) Differences(other Identity) []string {
	left, right := map[string]string{}, map[string]string{}
	for _, f := range i.Fields {
		left[f.Name] = f.Value
	}
	for _, f := range other.Fields {
		right[f.Name] = f.Value
	}
	all := maps.Clone(left)
	maps.Copy(all, right)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, here := left[name]
		b, there := right[name]
		switch {
		case !here:
			out = append(out, fmt.Sprintf("%s: absent, then %q", name, b))
		case !there:
			out = append(out, fmt.Sprintf("%s: %q, then absent", name, a))
		case a != b:
			out = append(out, fmt.Sprintf("%s: %q, then %q", name, a, b))
		}
	}
	return out
}

// identityRoutes are GET routes that only read, in the order asked. SGLang's /flush_cache takes GET as well, so
// nothing outside this list is asked.
var identityRoutes = []string{
	"/version", "/get_server_info", "/get_model_info", "/model_info", "/props", "/server_info?config_format=json",
	"/slots", "/openapi.json",
}

// Identify asks the read-only identity routes of vLLM, SGLang and llama.cpp. A route that is missing or fails is
// no error; only an unreachable server and the caller's cancellation are.
func (c *Client) Identify(ctx context.Context) (Identity, error) {
	id := Identity{Kind: KindUnknown}
	answers := map[string]any{}
	for _, route := range identityRoutes {
		body, x, err := c.Get(ctx, route)
		if IsUnreachable(err) || ctx.Err() != nil {
			return id, fmt.Errorf("identity: %w", err)
		}
		if x.Server != "" && x.Server != "uvicorn" {
			answers["/server-header"] = x.Server
		}
		var v any
		if err != nil || json.Unmarshal(body, &v) != nil {
			continue
		}
		path, _, _ := strings.Cut(route, "?")
		id.Routes = append(id.Routes, path)
		switch list, isList := v.([]any); {
		case path == "/openapi.json":
			id.Paths = openapiPaths(v)
			continue
		case path == "/slots" && isList: // the rest of it is the state of other people's requests
			v = map[string]any{"count": len(list)}
		}
		answers[path] = v
	}
	id.Kind, id.Version = kindOf(answers)
	for _, path := range slices.Sorted(maps.Keys(answers)) {
		id.Fields = flatten(id.Fields, strings.TrimPrefix(path, "/"), answers[path], 0)
	}
	slices.SortFunc(id.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i := range id.Fields {
		id.Fields[i].Value = c.Redact(id.Fields[i].Value)
	}
	id.Hash = hashOf(id.Fields)
	return id, nil
}

func kindOf(answers map[string]any) (Kind, string) {
	at := func(route string, names ...string) (string, bool) {
		v := answers[route]
		for _, n := range names {
			m, ok := v.(map[string]any)
			if !ok {
				return "", false
			}
			if v, ok = m[n]; !ok {
				return "", false
			}
		}
		s, ok := v.(string)
		return s, ok
	}
	if v, ok := at("/props", "build_info"); ok {
		return KindLlamaCPP, v
	}
	for _, route := range []string{"/get_server_info", "/server_info"} {
		info, _ := answers[route].(map[string]any)
		if _, ok := info["chunked_prefill_size"]; ok {
			v, _ := at(route, "version")
			return KindSGLang, v
		}
	}
	if v, ok := at("/version", "version"); ok {
		return KindVLLM, v
	}
	return KindUnknown, ""
}

func openapiPaths(v any) []string {
	m, _ := v.(map[string]any)
	paths, _ := m["paths"].(map[string]any)
	return slices.Sorted(maps.Keys(paths))
}

const (
	mostFields  = 2000
	longestText = 200 // bytes; longer values, like chat templates, are kept as their hash
	deepest     = 12
)

var (
	// volatile names change between two looks at the same server, or at each start with the same flags.
	volatile = regexp.MustCompile(`(?i)^(?:internal_states?|.*throughput.*|uptime.*|start(?:ed|_time)?|.*timestamp.*|` +
		`.*_time|pid|random_seed|seed|host|port|.*_port|.*init_addr|id_task|is_processing|n_past|n_decoded|n_remain|` +
		`next_token|prompt|generated|status|num_running.*|num_waiting.*|load.*_avg)$`)
	secret = regexp.MustCompile(`(?i)(?:^|_)(?:api_?keys?|key|token|secret|password|passwd|credentials?)$`)
	// special are names that secret matches and that hold none.
	special = regexp.MustCompile(`(?i)^(?:bos|eos|eot|pad|unk|sep|cls|mask)_token$`)
)

// flatten lists the leaves of a JSON value under names in dots.
func flatten(out []Field, name string, v any, depth int) []Field {
	if len(out) >= mostFields || depth > deepest {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch {
			case volatile.MatchString(k):
			case secret.MatchString(k) && !special.MatchString(k):
				if v[k] != nil && v[k] != "" {
					out = append(out, Field{name + "." + k, redacted})
				}
			default:
				out = flatten(out, name+"."+k, v[k], depth+1)
			}
		}
		return out
	case []any:
		for i, e := range v {
			out = flatten(out, fmt.Sprintf("%s.%d", name, i), e, depth+1)
		}
		return out
	case string:
		if len(v) > longestText {
			sum := sha256.Sum256([]byte(v))
			v = fmt.Sprintf("%d bytes, sha256 %s", len(v), hex.EncodeToString(sum[:8]))
		}
		return append(out, Field{name, v})
	}
	b, err := json.Marshal(v)
	if err != nil { // cannot happen: it was JSON
		return out
	}
	return append(out, Field{name, string(b)})
}

func hashOf(fields []Field) string {
	if len(fields) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%q=%q\n", f.Name, f.Value)
	}
	return hex.EncodeToString(h.Sum(nil))
}
