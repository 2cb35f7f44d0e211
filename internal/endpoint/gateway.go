package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// cuts remembers after what time requests were cut off. A server that breaks does so at any time; a proxy's limit is
// the same for all.
type cuts struct {
	mu    sync.Mutex
	after []time.Duration
}

// mostCuts bounds what is remembered.
const mostCuts = 1000

// seen notes a cut in err, with how many earlier ones came after the same time, within a tenth. Cuts within a second
// are a server's.
func (c *cuts) seen(err error, after time.Duration) error {
	var status *StatusError
	var cut *TruncatedError
	isGateway := errors.As(err, &status) && status.gateway()
	if !isGateway && (!errors.As(err, &cut) || cut.Nothing) {
		return err
	}
	n := 0
	c.mu.Lock()
	for _, earlier := range c.after {
		if (earlier - after).Abs() <= after/10 {
			n++
		}
	}
	if len(c.after) < mostCuts {
		c.after = append(c.after, after)
	}
	c.mu.Unlock()
	switch {
	case isGateway:
		status.After, status.Alike = after, n
	case after >= time.Second:
		cut.After, cut.Alike = after, n
	}
	return err
}

// gateway reports a proxy's own timeout: 504, and 524 of Cloudflare.
func (e *StatusError) gateway() bool {
	return e.Where == "status" && (e.Status == http.StatusGatewayTimeout || e.Status == 524)
}

// aboutField is a refusal of what was asked for, not of who asks.
var aboutField = regexp.MustCompile(`(?i)logprob|\bparameter\b|\bunsupported\b|not supported`)

func alike(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", as %d before it after the same time", n)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
