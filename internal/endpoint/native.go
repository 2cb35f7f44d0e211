package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Get asks a server's own route, e.g. "/version", and returns the body, at most Limits.MaxBody, redacted. A
// status outside 2xx is a *StatusError.
func (c *Client) Get(ctx context.Context, path string) ([]byte, Exchange, error) {
	return c.native(ctx, http.MethodGet, path, nil, nil)
}

// Post sends body fields to a server's own route, e.g. SGLang's "/generate", and returns the body as Get does.
func (c *Client) Post(ctx context.Context, path string, fields any) ([]byte, Exchange, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, Exchange{}, fmt.Errorf("endpoint: the body for %q cannot be written: %w", path, err)
	}
	return c.native(ctx, http.MethodPost, path, body, nil)
}

// PostStream is Post for an answer too large to hold: read gets the body as it arrives, unredacted and without a
// limit on size; the limits on silence hold. Its error is returned as it is. Exchange.Response stays empty.
func (c *Client) PostStream(ctx context.Context, path string, fields any, read func(io.Reader) error) (Exchange,
	error,
) {
	body, err := json.Marshal(fields)
	if err != nil {
		return Exchange{}, fmt.Errorf("endpoint: the body for %q cannot be written: %w", path, err)
	}
	_, x, err := c.native(ctx, http.MethodPost, path, body, read)
	return x, err
}

func (c *Client) postRaw(ctx context.Context, path string, body []byte) ([]byte, error) {
	b, _, err := c.native(ctx, http.MethodPost, path, body, nil)
	return b, err
}

func (c *Client) native(ctx context.Context, method, path string, body []byte, sink func(io.Reader) error) ([]byte,
	Exchange, error,
) {
	if !strings.HasPrefix(path, "/") {
		return nil, Exchange{}, fmt.Errorf("endpoint: the route %q must begin with a slash", path)
	}
	k := &call{sink: sink}
	var payload io.Reader
	if body != nil {
		payload = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, callKey{}, k), method, c.root+path, payload)
	if err != nil {
		return nil, Exchange{}, fmt.Errorf("endpoint: building the request for %q: %w", path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.wire.Do(req)
	if err != nil {
		return nil, k.out, err
	}
	_ = res.Body.Close()
	return k.body, k.out, nil
}
