package nanoserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/scripted"
)

// scriptedOptions are the flags of the scripted engine.
type scriptedOptions struct {
	scripted.Options
	given []string // names of its flags on the command line
}

// build makes the engine; a bad fault or control is a usage sentence.
func (o scriptedOptions) build(say *log.Logger) (*scripted.Engine, error) {
	e, err := scripted.New(o.Options)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(e.Drawn(), "\n") {
		if line != "" {
			say.Printf("fault %s", line)
		}
	}
	if o.Control != "" && o.Control != scripted.Healthy {
		say.Printf("control %s: %s", o.Control, scripted.Controls()[o.Control])
	}
	say.Printf("scripted engine, seed %d, context %d tokens", o.Seed, o.Window)
	return e, nil
}

// drain is how long requests in flight may go on after the stop.
const drain = 10 * time.Second

// serveHandler serves until ctx ends and then lets requests finish.
func serveHandler(ctx context.Context, h http.Handler, ln net.Listener, say *log.Logger) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	hs := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return work }, ErrorLog: say,
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("cannot serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	deadline, stop := context.WithTimeout(work, drain)
	defer stop()
	err := hs.Shutdown(deadline)
	if err != nil {
		cancel()
		_ = hs.Close()
		err = fmt.Errorf("requests still ran %v after the stop and were cut off: %w", drain, err)
	}
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s ended: %w", ln.Addr(), serveErr)
	}
	return err
}

// scriptedHelp lists faults and controls of the scripted engine.
func scriptedHelp(w io.Writer) {
	fmt.Fprint(w, "\nFaults for -engine=scripted -fault=, several by commas; parameters are drawn from -seed:\n")
	for _, k := range scripted.Kinds() {
		fmt.Fprintf(w, "  %-4s %-20s %s\n  %25s when %s\n", k.ID, k.Slug, k.Effect, "", k.Trigger)
	}
	fmt.Fprint(w, "\nControls for -engine=scripted -control=:\n")
	all := scripted.Controls()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "  %-20s %s\n", name, all[name])
	}
}
