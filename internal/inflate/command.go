package inflate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assay-suite/assay/fixtures"
)

const usage = `inflate writes a nano model into the tensor shapes of a large one: your engine runs its real kernels
at their real sizes, on a model whose every log-probability is known.

  inflate -out=DIR                                      nano-flash in V4-Flash's shape, fp8, 4 layers
  inflate -out=DIR -format=hf-fp32 -shape=v4-pro        in transformers' names, V4-Pro's shape
  inflate -out=DIR -mix=1 -layers=43                    spread over every channel, head and expert; all layers
  inflate -out=DIR -from=fixtures/nano-llama -shape=llama-3-8b -format=hf-bf16
  inflate -ids                                          what the tokenizer makes of texts, to hold another against

Flags:
`

// Command runs the command with its arguments and returns its exit code: 0 written, 2 usage, 3 interrupted, 5 failed.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "-ids" {
		if err := WriteIDs(stdout); err != nil {
			fmt.Fprintf(stderr, "inflate: %v\n", err)
			return 5
		}
		return 0
	}
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "inflate: %v\n", err)
		return 2
	}
	o.Progress = stderr
	began := time.Now()
	s, err := Run(ctx, o)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "inflate: interrupted; nothing was written")
		return 3
	case err != nil:
		fmt.Fprintf(stderr, "inflate: %v\n", err)
		return 5
	}
	fmt.Fprintf(stdout, "%s: %s in the shape of %s, %s: %.1f M parameters, %d layers (%d pass through), %d tensors in %d "+
		"files, %.2f GiB, %.1f s\n", o.Out, o.FromName, o.Shape.Name, o.Format.Name, float64(s.Parameters)/1e6, s.Layers,
		s.Passing, s.Tensors, s.Shards, float64(s.Bytes)/(1<<30), time.Since(began).Seconds())
	return 0
}

func parse(args []string, stdout io.Writer) (Options, error) {
	var o Options
	var shape, format, from string
	set := flag.NewFlagSet("inflate", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&o.Out, "out", "", "folder to write; it must not be there yet")
	set.StringVar(&from, "from", "fixtures/nano-flash", "folder of the nano model; elsewhere than in a clone the "+
		"embedded one")
	set.StringVar(&shape, "shape", "v4-flash",
		"v4-flash, v4-pro, v3.2-like, small (for a CPU); of nano-llama llama-3-8b, llama-small; or a config.json of the "+
			"model's architecture")
	set.StringVar(&format, "format", "fp8", "number format and names of the tensors:\n"+formatTable())
	set.IntVar(&o.Layers, "layers", 0, "layers; more than the model's 4 hand their input on unchanged")
	set.IntVar(&o.Experts, "experts", 16, "routed experts of a layer")
	set.Uint64Var(&o.Seed, "mix", 0, "a seed: spread the model over all channels, heads and experts by exact "+
		"symmetries;\n"+
		"0: place it into the first ones, the rest is zero")
	shard := set.Int("shard", 2048, "MiB of a shard")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		set.SetOutput(stdout)
		set.PrintDefaults()
		return o, err
	}
	switch {
	case err != nil:
		return o, fmt.Errorf("%w; inflate -h lists the flags", err)
	case set.NArg() > 0:
		return o, fmt.Errorf("%q is no flag; inflate -h lists them", set.Arg(0))
	case o.Out == "":
		return o, errors.New("-out is missing; name the folder to write")
	case *shard < 1 || o.Experts < 1 || o.Layers < 0:
		return o, fmt.Errorf("-shard=%d, -experts=%d and -layers=%d must be positive", *shard, o.Experts, o.Layers)
	}
	o.Words, o.Shard = true, int64(*shard)<<20
	if o.Shape, err = Lookup(shape); err != nil {
		return o, err
	}
	if o.Format, err = FormatByName(format); err != nil {
		return o, err
	}
	o.FromName = filepath.Base(from)
	o.From, err = source(from)
	return o, err
}

// source is the folder of a nano model, or the embedded one of that name.
func source(from string) (fs.FS, error) {
	if _, err := os.Stat(filepath.Join(from, "config.json")); err == nil {
		return os.DirFS(from), nil
	}
	if name, ok := strings.CutPrefix(filepath.ToSlash(from), "fixtures/"); ok {
		if _, err := fs.Stat(fixtures.FS, name+"/config.json"); err == nil {
			sub, err := fs.Sub(fixtures.FS, name)
			if err != nil {
				return nil, fmt.Errorf("-from=%s: %w", from, err)
			}
			return sub, nil
		}
	}
	return nil, fmt.Errorf("-from=%s has no config.json; name a folder of a nano model, as fixtures/nano-flash", from)
}

func formatTable() string {
	var lines []string
	for _, f := range Formats() {
		lines = append(lines, fmt.Sprintf("%-8s %s", f.Name, f.what))
	}
	return strings.Join(lines, "\n")
}
