package quant_test

import (
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// FuzzPlan: any configuration MUST be a plan or an error of one line, and a plan answers for any module and decodes or
// refuses what its library made.
func FuzzPlan(f *testing.F) {
	names, _ := vectorsOf()
	for _, path := range names {
		file, err := safetensors.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(file.Metadata()["config"]), uint8(len(path)))
		_ = file.Close() // only read from
	}
	f.Fuzz(func(t *testing.T, config []byte, which uint8) {
		p, err := quant.ParsePlan(config, config)
		if err != nil && strings.ContainsRune(err.Error(), '\n') && !strings.ContainsRune(string(config), '\n') {
			t.Errorf("an error of several lines: %q", err)
		}
		_, _, _ = p.For("model.layers.0.mlp.gate_proj")
		file, err := safetensors.Open(names[int(which)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }() // only read from
		p.Headers(file.Metadata())
		for _, name := range file.Names() {
			if w, _ := p.Find(file, name); w != nil {
				_, _ = w.Read(0, min(w.Total(), 8))
				_, _ = w.Scales(0, min(w.Total(), 8))
				_, _, _, _ = w.Corner(8, 8)
			}
		}
	})
}
