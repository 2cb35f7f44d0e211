package endpoint

import (
	"context"
	"fmt"
	"slices"
)

// Survey is a pre-flight with every other capability that a probe can need, and the server's identity.
type Survey struct {
	Preflight
	Identity Identity
}

// Survey runs Preflight, then asks the identity routes, then one or two requests of a few tokens for each further
// capability. Rows beside Preflight's: completions-ids, echo, prompt-logprobs, usage-stream, seed, sampling-fields,
// thinking-switch, continue-final, flush, indexer-topk, identity. Whether a cache can be flushed is read off the
// identity routes and never tried. The errors are Preflight's.
func (c *Client) Survey(ctx context.Context, nonce string) (Survey, error) {
	before := c.Requests()
	p, err := c.Preflight(ctx, nonce)
	s := Survey{Preflight: p}
	if err != nil {
		return s, err
	}
	c = c.WithModel(p.Model)
	c.begins()
	if s.Identity, err = c.Identify(ctx); err != nil {
		return s, err
	}
	if !s.Window.Known {
		s.readWindow()
	}
	for _, probe := range []func(context.Context, string, Identity) Feature{
		c.probeIDs, c.probeEcho, c.probePromptLogprobs, c.probeUsageStream, c.probeSeed, c.probeSampling, c.probeThinking,
		c.probeContinue, c.probeFlush, c.probeIndexer,
	} {
		c.begins()
		s.add(probe(ctx, nonce, s.Identity))
		if ctx.Err() != nil {
			return s, fmt.Errorf("pre-flight: %w", context.Cause(ctx))
		}
	}
	s.add(identityFeature(s.Identity))
	s.Requests = c.Requests() - before
	return s, nil
}

// readWindow takes llama.cpp's context of one slot.
func (s *Survey) readWindow() {
	v, ok := s.Identity.Value("props.default_generation_settings.n_ctx")
	var n int
	if _, err := fmt.Sscan(v, &n); !ok || err != nil || n < 1 {
		return
	}
	s.Window = Count{n, true}
	i := slices.IndexFunc(s.Features, func(f Feature) bool { return f.Name == "window" })
	if i >= 0 {
		s.Features[i] = Feature{Name: "window", State: Supported, N: n, Detail: fmt.Sprintf("%d tokens, of one slot", n)}
	}
}

func identityFeature(id Identity) Feature {
	if id.Kind == KindUnknown && len(id.Fields) == 0 {
		return Feature{Name: "identity", State: Unsupported, Detail: "no identity route answers"}
	}
	if id.Kind == KindUnknown {
		return Feature{
			Name:   "identity",
			State:  Unknown,
			Detail: fmt.Sprintf("%d fields, of an unknown engine", len(id.Fields)),
		}
	}
	return Feature{
		Name:   "identity",
		State:  Supported,
		Detail: fmt.Sprintf("%s %s, %d fields", id.Kind, id.Version, len(id.Fields)),
	}
}

// probeFlush never calls the route: one of them takes GET, and one flushes for every user of the server.
func (c *Client) probeFlush(_ context.Context, _ string, id Identity) Feature {
	f := Feature{Name: "flush", State: Unknown, Detail: "the server does not list its routes; not tried"}
	route := map[Kind]string{KindVLLM: "/reset_prefix_cache", KindSGLang: "/flush_cache"}[id.Kind]
	switch {
	case id.Kind == KindLlamaCPP && slices.Contains(id.Routes, "/slots"):
		return Feature{Name: "flush", State: Supported, Detail: "POST /slots/{id}?action=erase, from /slots; not called"}
	case id.Kind == KindLlamaCPP:
		return Feature{Name: "flush", State: Unknown, Detail: "/slots does not answer; not tried"}
	case id.Paths == nil:
	case route != "" && slices.Contains(id.Paths, route):
		f.State, f.Detail = Supported, "POST "+route+", from /openapi.json; not called"
	case route != "":
		f.State, f.Detail = Unsupported, route+" is not among the routes of /openapi.json"
	case slices.Contains(id.Paths, "/reset_prefix_cache") || slices.Contains(id.Paths, "/flush_cache"):
		f.State, f.Detail = Supported, "from /openapi.json; not called"
	default:
		f.State, f.Detail = Unsupported, "no flush route among those of /openapi.json"
	}
	return f
}
