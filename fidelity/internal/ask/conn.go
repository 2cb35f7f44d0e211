package ask

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// Traced makes the requests of a context tell their connection: its name, by the client's own address, is empty until
// there is one, and stays so where no socket is used.
func Traced(ctx context.Context) (context.Context, func() string) {
	var name atomic.Value
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if c.Conn != nil && c.Conn.LocalAddr() != nil {
			name.Store(c.Conn.LocalAddr().String())
		}
	}}
	return httptrace.WithClientTrace(ctx, trace), func() string {
		s, _ := name.Load().(string)
		return s
	}
}
