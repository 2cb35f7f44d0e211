package nanoserve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/assay-suite/assay/internal/engine"
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
	scripted    *scriptedOptions  // nil = another engine
	mechanism   *mechanismOptions // nil = another engine
}

// errHelp says that help was asked for and has been printed.
var errHelp = flag.ErrHelp

// parse reads the command line. Help goes to stdout; every other error is a usage sentence.
func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	var fault, engine string
	var played scriptedOptions
	set := flag.NewFlagSet("nanoserve", flag.ContinueOnError)
	set.SetOutput(io.Discard) // errors are sentences of ours
	set.StringVar(&o.addr, "addr", "127.0.0.1:8088", "listen on `host:port`; port 0 takes a free one, no host means "+
		"127.0.0.1, and only a host named here leaves loopback")
	set.StringVar(&o.weights, "weights", defaultWeights, "checkpoint `folder` in any of the three nano formats, or the "+
		"name of an embedded model ("+strings.Join(embedded, ", ")+"); nano-v4 when not given")
	set.StringVar(&fault, "fault", "", "serve the model with one catalogued fault, by `name`; the scripted engine takes "+
		"several, by commas")
	set.StringVar(&engine, "engine", "nano", "`engine` that answers: nano computes, scripted plays a server with the "+
		"faults listed below, mechanism models a serving engine with bugs in its mechanisms")
	set.Uint64Var(&played.Seed, "seed", 1, "scripted and mechanism engine: draws parameters and "+
		"faults from this `number`")
	set.StringVar(&played.Control, "control", "", "scripted and mechanism engine: serve one of the sound "+
		"servers listed below, by `name`")
	set.Float64Var(&played.Pace, "pace", 0.02, "scripted and mechanism engine: `share` of a real engine's times (50 us a "+
		"prompt "+
		"token, 5 ms a generated one); 0 waits for nothing")
	set.IntVar(&o.maxModelLen, "max-model-len", 8192, "longest prompt plus answer, in `tokens`; the scripted engine has "+
		"32768 when not given, the mechanism engine draws it")
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage(set, stdout)
		return o, errHelp
	} else if err != nil {
		return o, fmt.Errorf("%w; see nanoserve -h", err)
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: nanoserve takes flags only, see nanoserve -h", set.Arg(0))
	}
	windowSet := false
	set.Visit(func(f *flag.Flag) {
		o.weightsSet = o.weightsSet || f.Name == "weights"
		windowSet = windowSet || f.Name == "max-model-len"
		if f.Name == "seed" || f.Name == "control" || f.Name == "pace" {
			played.given = append(played.given, f.Name)
		}
	})
	host, port, err := net.SplitHostPort(o.addr)
	if err != nil {
		return o, fmt.Errorf("-addr %q is not host:port, such as 127.0.0.1:8088: %w", o.addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	o.addr = net.JoinHostPort(host, port)
	switch engine {
	case "nano":
		if len(played.given) > 0 {
			return o, fmt.Errorf("-%s is for the scripted and the mechanism engine: add -engine=scripted or "+
				"-engine=mechanism, or leave it out", played.given[0])
		}
	case "scripted":
		if o.weightsSet {
			return o, errors.New("-weights is for the nano engine: the scripted engine has none, leave it out")
		}
		if o.maxModelLen < 64 {
			return o, fmt.Errorf("-max-model-len %d is too short for the scripted engine, want at least 64", o.maxModelLen)
		}
		if !windowSet {
			o.maxModelLen = 32768
		}
		if fault != "" {
			played.Faults = strings.Split(fault, ",")
		}
		played.Window = o.maxModelLen
		o.scripted = &played
		return o, nil
	case "mechanism":
		if o.weightsSet {
			return o, errors.New("-weights is for the nano engine: the mechanism engine has none, leave it out")
		}
		m := mechanismOptions{Seed: played.Seed, Sound: played.Control, Pace: played.Pace}
		if windowSet {
			m.Context = o.maxModelLen
		}
		if fault != "" {
			m.Bugs = strings.Split(fault, ",")
		}
		o.mechanism = &m
		return o, nil
	default:
		return o, fmt.Errorf("-engine %q is unknown: use nano, scripted or mechanism", engine)
	}
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
	b.WriteString("nanoserve serves one of the tiny nano models, or an engine that plays faults, behind an " +
		"OpenAI-compatible endpoint.\n\nUsage: nanoserve [flags]\n\n")
	set.SetOutput(&b)
	set.PrintDefaults()
	b.WriteString("\nFaults for -fault= of the nano engine:\n")
	for _, f := range faults.All() {
		fmt.Fprintf(&b, "  %-28s %s\n", f.Name, f.Effect)
	}
	scriptedHelp(&b)
	b.WriteString("\nBugs for -engine=mechanism -fault=, several by commas; parameters are drawn from -seed:\n" +
		engine.Help())
	b.WriteString("\nExit codes: 0 stopped in good order, 2 usage, 4 cannot listen, 5 weights or server failed.\n")
	_, _ = io.WriteString(w, b.String())
}
