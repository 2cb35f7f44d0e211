package nanoserve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/assay-suite/assay/oracle/faults"
)

// defaultWeights is where a clone of the repository has the model; started elsewhere, the embedded copy
// takes its place.
const defaultWeights = "fixtures/nano-v4"

type options struct {
	addr        string // host:port, host never empty
	weights     string
	weightsSet  bool
	fault       *faults.Fault // nil = none
	maxModelLen int
}

// errHelp says that help was asked for and has been printed.
var errHelp = flag.ErrHelp

// parse reads the command line. Help goes to stdout; every other error is a usage sentence.
func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	var fault string
	set := flag.NewFlagSet("nanoserve", flag.ContinueOnError)
	set.SetOutput(io.Discard) // errors are sentences of ours
	set.StringVar(&o.addr, "addr", "127.0.0.1:8088", "listen on `host:port`; port 0 takes a free one, no host means 127.0.0.1, and only a host named here leaves loopback")
	set.StringVar(&o.weights, "weights", defaultWeights, "checkpoint `folder` in any of the three nano formats; the embedded nano-v4 when not given and not there")
	set.StringVar(&fault, "fault", "", "serve the model with one catalogued fault, by `name`")
	set.IntVar(&o.maxModelLen, "max-model-len", 8192, "longest prompt plus answer, in `tokens`")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage(set, stdout)
		return o, errHelp
	} else if err != nil {
		return o, fmt.Errorf("%w; see nanoserve -h", err)
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: nanoserve takes flags only, see nanoserve -h", set.Arg(0))
	}
	set.Visit(func(f *flag.Flag) { o.weightsSet = o.weightsSet || f.Name == "weights" })
	host, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		return o, fmt.Errorf("-addr %q is not host:port, such as 127.0.0.1:8088: %w", o.addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	o.addr = net.JoinHostPort(host, port)
	if fault != "" {
		f, err := faults.Lookup(fault)
		if err != nil {
			return o, fmt.Errorf("-fault: %w", err)
		}
		o.fault = &f
	}
	return o, nil
}

func usage(set *flag.FlagSet, w io.Writer) {
	var b strings.Builder
	b.WriteString("nanoserve serves the tiny nano-v4 model behind an OpenAI-compatible endpoint.\n\nUsage: nanoserve [flags]\n\n")
	set.SetOutput(&b)
	set.PrintDefaults()
	b.WriteString("\nFaults for -fault:\n")
	for _, f := range faults.All() {
		fmt.Fprintf(&b, "  %-28s %s\n", f.Name, f.Effect)
	}
	b.WriteString("\nExit codes: 0 stopped in good order, 2 usage, 4 cannot listen, 5 weights or server failed.\n")
	_, _ = io.WriteString(w, b.String())
}
