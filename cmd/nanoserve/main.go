// Command nanoserve serves nano-v4, a tiny trained model, behind an OpenAI-compatible endpoint on
// loopback, with or without one planted fault; or a scripted engine with any of 44. See nanoserve -h.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/assay-suite/assay/internal/server/nanoserve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back, so that a second one ends a slow drain.
	context.AfterFunc(ctx, stop)
	os.Exit(nanoserve.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
