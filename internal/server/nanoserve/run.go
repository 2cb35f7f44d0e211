package nanoserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/internal/server"
	"github.com/assay-suite/assay/oracle"
)

// Exit codes, as in the project's contract with users.
const (
	codeOK          = 0
	codeUsage       = 2
	codeUnreachable = 4
	codeFailed      = 5
)

// Run is the command: it serves until ctx ends and returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	say := log.New(stderr, "nanoserve: ", 0)
	o, err := parse(args, stdout)
	if errors.Is(err, errHelp) {
		return codeOK
	} else if err != nil {
		say.Print(err)
		return codeUsage
	}
	var fsys fs.FS
	var name string
	var played http.Handler
	switch {
	case o.scripted != nil:
		played, err = o.scripted.build(say)
	case o.mechanism != nil:
		played, err = o.mechanism.build(say)
	default:
		fsys, name, err = openWeights(o, say)
	}
	if err != nil {
		say.Print(err)
		return codeUsage
	}
	// The listener comes first: a port that is taken should not cost the loading of weights.
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		say.Print(listenSentence(o.addr, err))
		return codeUnreachable
	}
	defer func() { _ = ln.Close() }() // Serve closes it as well; this is for the ways out before
	serve := func() error { return serveHandler(ctx, played, ln, say) }
	if played == nil {
		s, code, err := build(o, fsys, name, say)
		if err != nil {
			say.Print(err)
			return code
		}
		serve = func() error { return s.Serve(ctx, ln) }
	}
	if addr, ok := ln.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		say.Printf("listening on %s, beyond loopback: anybody who reaches it may use it", addr)
	}
	// Connections queue from Listen on, so the URL is good from the moment it is read.
	fmt.Fprintln(stdout, baseURL(ln.Addr()))
	if err := serve(); err != nil {
		say.Print(err)
		return codeFailed
	}
	say.Print("stopped")
	return codeOK
}

// embedded are the models that need no folder.
var embedded = []string{"nano-v4", "nano-flash", "nano-llama", "nano-v4-mxfp4", "nano-v4-nvfp4"}

// openWeights finds the checkpoint folder, or an embedded model by its name; the model is called as the folder is.
func openWeights(o options, say *log.Logger) (fs.FS, string, error) {
	info, err := os.Stat(o.weights)
	switch {
	case err == nil && info.IsDir():
		abs, err := filepath.Abs(o.weights) // "." must give a name, too
		if err != nil {
			return nil, "", fmt.Errorf("-weights %q: %w", o.weights, err)
		}
		say.Printf("weights from %s", o.weights)
		return os.DirFS(abs), filepath.Base(abs), nil
	case err == nil:
		return nil, "", fmt.Errorf("-weights %q is a file, give the folder that holds the checkpoint", o.weights)
	case o.weightsSet && !slices.Contains(embedded, o.weights) || !errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("-weights %q cannot be opened: %w; the embedded models are %s, by name", o.weights, err,
			strings.Join(embedded, ", "))
	}
	name := path.Base(o.weights)
	sub, err := fs.Sub(fixtures.FS, name)
	if err != nil {
		return nil, "", fmt.Errorf("the embedded weights: %w", err)
	}
	say.Printf("weights embedded (%s), as there is no folder %s here", name, o.weights)
	return sub, name, nil
}

// build loads the model under its operators and puts the server over it.
func build(o options, fsys fs.FS, name string, say *log.Logger) (*server.Server, int, error) {
	engine, code, err := load(o, fsys, name, say)
	if err != nil {
		return nil, code, err
	}
	s, err := server.New(engine, server.Config{Version: version(), Logf: say.Printf})
	if err != nil {
		return nil, codeFailed, err
	}
	say.Printf("model %s, context %d tokens", name, o.maxModelLen)
	return s, codeOK, nil
}

// load is the engine over the folder's model: a plain Llama, by its config.json, or a model of the DeepSeek-V4
// architecture under the fault's operators.
func load(o options, fsys fs.FS, name string, say *log.Logger) (server.Engine, int, error) {
	if llama.Is(fsys) {
		return loadLlama(o, fsys, name)
	}
	ops := oracle.Reference()
	if o.fault != nil {
		ops = o.fault.Apply(ops)
		say.Printf("fault %s: %s", o.fault.Name, o.fault.Effect)
	}
	model, err := nano.Load(fsys, ops)
	if err != nil {
		return nil, codeFailed, fmt.Errorf("-weights %q does not hold a nano checkpoint: %w", o.weights, err)
	}
	engine, err := server.Nano(model.Fast(), name, o.maxModelLen)
	if err != nil {
		return nil, codeUsage, fmt.Errorf("-max-model-len: %w", err)
	}
	return engine, codeOK, nil
}

func loadLlama(o options, fsys fs.FS, name string) (server.Engine, int, error) {
	if o.fault != nil {
		return nil, codeUsage, fmt.Errorf("-fault=%s is a fault of the DeepSeek-V4 architecture and %s is a plain Llama; "+
			"serve it without a fault, or nano-v4 with one", o.fault.Name, name)
	}
	model, err := llama.Load(fsys)
	if err != nil {
		return nil, codeFailed, fmt.Errorf("-weights %q does not hold a nano checkpoint: %w", o.weights, err)
	}
	engine, err := server.Llama(model, name, o.maxModelLen)
	if err != nil {
		return nil, codeUsage, fmt.Errorf("-max-model-len: %w", err)
	}
	return engine, codeOK, nil
}

// baseURL is what a client on this machine sets as OPENAI_BASE_URL; an unspecified host is reachable by
// loopback.
func baseURL(addr net.Addr) string {
	host := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return "http://" + host + "/v1"
}

func listenSentence(addr string, err error) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Sprintf("%s is already in use: stop the process that listens there, or choose another with "+
			"-addr=host:port (port 0 takes a free one)", addr)
	}
	return fmt.Sprintf("cannot listen on %s: %v", addr, err)
}

// version is the module version, or the commit of a build from a clone.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}
