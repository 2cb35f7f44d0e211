package inflate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/safetensors"
)

// Options of Run. Zero values are defaults.
type Options struct {
	From     fs.FS  // a folder of a nano model
	FromName string // how it is called in the folder's README
	Out      string // a folder that is not there yet
	Shape    Shape
	Format   Format
	Layers   int    // 0: as many as the model has
	Experts  int    // 0: 16
	Seed     uint64 // 0: placed, the rest zero; else spread by this seed
	Words    bool   // a tokenizer.json with words of their own, for engines; without it the vocabulary is the model's
	Shard    int64  // bytes of a shard; 0: 2 GiB
	Progress io.Writer
}

// Summary is what Run wrote.
type Summary struct {
	Tensors, Shards   int
	Parameters, Bytes int64
	Layers, Passing   int
}

// Run writes the folder. It appears whole or not at all.
func Run(ctx context.Context, o Options) (Summary, error) { return run(ctx, o, hand{}) }

// hand changes a layout, by which tests plant faults; nil changes nothing.
type hand struct {
	v4    func(*layout)
	llama func(*llamaLayout)
}

// run is Run with a hand on the layout.
func run(ctx context.Context, o Options, plant hand) (_ Summary, err error) {
	if o.Experts == 0 {
		o.Experts = 16
	}
	if o.Shard == 0 {
		o.Shard = 2 << 30
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	var vocabulary vocabulary
	if o.Words {
		if vocabulary, err = words(); err != nil {
			return Summary{}, err
		}
	}
	p, err := planned(&o, vocabulary.alias, plant)
	if err != nil {
		return Summary{}, err
	}
	if _, err := os.Stat(o.Out); !errors.Is(err, fs.ErrNotExist) {
		return Summary{}, fmt.Errorf("%s is there already; name a folder that is not", o.Out)
	}
	ckpt, err := safetensors.OpenSpelled(o.From, ".", spelling.Release)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, ckpt.Close()) }()
	if err := os.MkdirAll(filepath.Dir(o.Out), 0o755); err != nil {
		return Summary{}, fmt.Errorf("the folder above %s cannot be made: %w", o.Out, err)
	}
	part, err := os.MkdirTemp(filepath.Dir(o.Out), filepath.Base(o.Out)+".part-")
	if err != nil {
		return Summary{}, fmt.Errorf("a folder beside %s cannot be made: %w", o.Out, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	s, err := write(ctx, part, o, p.tensors(ckpt))
	if err != nil {
		return Summary{}, err
	}
	s.Layers, s.Passing = p.layers, p.passing
	raw, err := fs.ReadFile(o.From, "config.json")
	if err != nil {
		return Summary{}, fmt.Errorf("config.json cannot be read: %w", err)
	}
	files, err := vocabulary.files()
	if err != nil {
		return Summary{}, err
	}
	if files["config.json"], err = p.config(raw); err != nil {
		return Summary{}, err
	}
	files["generation_config.json"] = []byte(fmt.Sprintf(`{"bos_token_id": %d, "eos_token_id": %d}`+"\n", nano.BOS,
		nano.EOS))
	files["README.md"] = p.readme(s)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(part, name), data, 0o644); err != nil {
			return Summary{}, fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return Summary{}, fmt.Errorf("making %s readable: %w", o.Out, err)
	}
	if err := os.Rename(part, o.Out); err != nil {
		return Summary{}, fmt.Errorf("moving the folder to %s: %w", o.Out, err)
	}
	return s, nil
}

// inflation is what one architecture makes of the options.
type inflation struct {
	tensors         func(ckpt *safetensors.Checkpoint) []tensor
	config          func(small []byte) ([]byte, error)
	readme          func(s Summary) []byte
	layers, passing int
}

// planned lays the model out in the shape; the layers that the options leave open become the model's own.
func planned(o *Options, alias []int, plant hand) (inflation, error) {
	if llama.Is(o.From) {
		return plannedLlama(o, alias, plant)
	}
	cfg, err := nano.LoadConfig(o.From)
	if err != nil {
		return inflation{}, err
	}
	if o.Shape.KeyHeads > 0 {
		return inflation{}, fmt.Errorf("shape %s is of a plain Llama, and %s is of the DeepSeek-V4 architecture; use %s",
			o.Shape.Name, o.FromName, strings.Join(names(func(s Shape) bool { return s.KeyHeads == 0 }), ", "))
	}
	if o.Layers == 0 {
		o.Layers = cfg.Layers
	}
	layers, err := layersOf(cfg, o.Shape, o.Layers)
	if err != nil {
		return inflation{}, err
	}
	m, err := newLayout(cfg, o.Shape, o.Experts, o.Seed, alias)
	if err != nil {
		return inflation{}, err
	}
	if plant.v4 != nil {
		plant.v4(m)
	}
	p := inflation{
		tensors: func(ckpt *safetensors.Checkpoint) []tensor { return tensors(m, ckpt, layers) },
		config:  func(small []byte) ([]byte, error) { return configOf(small, *o, m, layers) },
		readme:  func(s Summary) []byte { return readme(*o, m, s) },
		layers:  len(layers),
	}
	for _, l := range layers {
		if l.passing {
			p.passing++
		}
	}
	return p, nil
}

// indented is v as JSON, keys sorted.
func indented(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, fmt.Errorf("JSON: %w", err)
	}
	return append(raw, '\n'), nil
}
