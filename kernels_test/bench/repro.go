package bench

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-suite/assay/safetensors"
)

//go:embed repro.py.txt
var reproScript string

// WriteRepro writes a folder that shows a failure without assay: inputs.safetensors (the memory of the call),
// outputs.safetensors (what the candidate wrote, what is right, and the bound) and repro.py, which needs numpy alone
// and has a place for the kernel. The folder appears complete or not at all. text is the failure's own text, for the
// script's head.
func (b *Bench) WriteRepro(dir string, r Report, text string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("no folder for a repro can be made: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".repro-*")
	if err != nil {
		return fmt.Errorf("no folder for a repro can be made: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := b.writeInputs(filepath.Join(temp, "inputs.safetensors")); err != nil {
		return err
	}
	judged, err := b.writeJudged(filepath.Join(temp, "outputs.safetensors"), r)
	if err != nil {
		return err
	}
	script, err := b.script(text, judged)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, "repro.py"), []byte(script), 0o755); err !=
		nil { //nolint:gosec // a script to run
		return fmt.Errorf("the repro of case %q cannot be written: %w", b.Case.ID, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("the older repro in %q cannot be replaced: %w", dir, err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("the repro of case %q cannot be put in place: %w", b.Case.ID, err)
	}
	return nil
}

func (b *Bench) writeInputs(path string) error {
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(b.call.Storage)) {
		s := b.call.Storage[name]
		data, err := encode(s.DType, s.Data)
		if err != nil {
			return fmt.Errorf("storage %q of case %q: %w", name, b.Case.ID, err)
		}
		tensors = append(tensors, safetensors.Tensor{
			Name:  name,
			DType: safetensors.DType(s.DType),
			Shape: []int{len(s.Data)},
			Data:  data,
		})
	}
	return safetensors.WriteFile(path, nil, tensors...)
}

// judgedOutput is how the script compares one output.
type judgedOutput struct {
	Name    string `json:"name"`
	Derived bool   `json:"derived"` // computed from the outputs by assay: shown, not recomputed
	Exact   bool   `json:"exact"`
	Gate    string `json:"gate"`
	Reason  string `json:"reason"`
}

func (b *Bench) writeJudged(path string, r Report) ([]judgedOutput, error) {
	var tensors []safetensors.Tensor
	var judged []judgedOutput
	add := func(name string, v []float64) {
		data := make([]byte, 0, 8*len(v))
		for _, x := range v {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
		}
		tensors = append(tensors, safetensors.Tensor{Name: name, DType: safetensors.F64, Shape: []int{len(v)}, Data: data})
	}
	for i, e := range b.Expected {
		if i >= len(r.Findings) {
			break
		}
		f := r.Findings[i]
		add("got:"+e.Name, f.Got)
		add("want:"+e.Name, e.Want)
		if e.Bound != nil {
			sharp := make([]float64, len(e.Bound))
			for at := range sharp {
				if sharp[at] = e.sharpest(at); e.Free != nil && e.Free[at] {
					sharp[at] = math.NaN() // nobody judges it
				}
			}
			add("bound:"+e.Name, sharp)
		}
		judged = append(judged, judgedOutput{e.Name, e.From != nil, e.Bound == nil, string(f.Verdict.Gate), f.Verdict.Reason})
	}
	return judged, safetensors.WriteFile(path, nil, tensors...)
}

// script fills the template: the call as JSON and the failure as a comment.
func (b *Bench) script(text string, judged []judgedOutput) (string, error) {
	type view struct {
		Storage string `json:"storage"`
		Offset  int    `json:"offset"`
		Shape   []int  `json:"shape"`
		Strides []int  `json:"strides"`
	}
	type output struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Prefill string `json:"prefill"`
	}
	call := struct {
		Op      string            `json:"op"`
		Case    string            `json:"case"`
		Attrs   Attrs             `json:"attrs"`
		Views   map[string]view   `json:"views"`
		Outputs map[string]output `json:"outputs"`
		Judged  []judgedOutput    `json:"judged"`
	}{b.call.Op, b.Case.ID, b.call.Attrs, map[string]view{}, map[string]output{}, judged}
	for name, v := range b.call.Views {
		call.Views[name] = view(v)
	}
	for name, o := range b.call.Outputs {
		call.Outputs[name] = output(o)
	}
	line, err := json.MarshalIndent(call, "", " ")
	if err != nil {
		return "", fmt.Errorf("the call of case %q cannot be written: %w", b.Case.ID, err)
	}
	comment := "# " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n# ")
	return strings.NewReplacer("@FAILURE@", comment, "@CALL@",
		strings.ReplaceAll(string(line), `\`, `\\`)).Replace(reproScript), nil
}
