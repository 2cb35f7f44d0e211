// Command inflate writes a nano model into the tensor shapes of a large one. See inflate -h.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/assay-suite/assay/internal/inflate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(inflate.Command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
