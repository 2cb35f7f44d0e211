package exact

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Reference is what is known of one model on its cells, digit after digit of cell after cell.
type Reference struct {
	Model  string
	Source string // what made it, and who vouched for that
	Cells  []Cell
	Codes  []string // of the cells
	Texts  []string // Digest of the prompts
	Digits []Digit  // [cells * digits]
	// Members are shifts of the margins in emulated engines of a format, [format][member][digit], nats.
	Members map[string][][]float64
	// Lists are how far the lists of those engines are from the exact ones: rms over digits of Digit.apart, of the first
	// digit (prefill) and of the others (decode), [format][member].
	Lists map[string][][2]float64
	// Directions are shifts of the margins by a fault in exact arithmetic, [fault][digit], nats.
	Directions map[string][]float64
}

// digits is the length of a code.
const digits = 5

// Digit is the exact answer at one digit: the likeliest tokens and their log-probabilities, best first. The first is
// the code's own.
type Digit struct {
	Tokens []int
	Logs   []float64 // nats, to 1e-6
}

// Margin is the log-probability of the right digit over that of the best other token, in nats.
func (d Digit) Margin() float64 { return d.Logs[0] - d.Logs[1] }

// apart is the mean square of the differences between the exact log-probabilities and those of another list of the same
// place, over the tokens that are in both, and how many these are.
func (d Digit) apart(tokens []int, logs []float64) (sq float64, n int) {
	for i, id := range d.Tokens {
		if j := slices.Index(tokens, id); j >= 0 {
			sq += (logs[j] - d.Logs[i]) * (logs[j] - d.Logs[i])
			n++
		}
	}
	return sq / float64(max(n, 1)), n
}

// file is a reference as stored: numbers as whole steps, lists as differences, so that it packs.
type file struct {
	Version    int                     `json:"assay-exact"`
	Model      string                  `json:"model"`
	Source     string                  `json:"source"`
	Cells      []cellFile              `json:"cells"`
	Digits     []digitFile             `json:"digits"`
	Members    map[string][]runs       `json:"members"`
	Lists      map[string][][2]float64 `json:"lists"`
	Directions map[string]runs         `json:"directions"`
}

type cellFile struct {
	ID     string  `json:"id"`
	Length int     `json:"length"`
	Depth  float64 `json:"depth"`
	Seed   uint64  `json:"seed"`
	Burst  int     `json:"burst"`
	Code   string  `json:"code"`
	Text   string  `json:"text"`
}

type digitFile struct {
	Tokens []int `json:"t"`
	Logs   []int `json:"l"` // of step; each but the first as the fall from the one before
}

// runs are numbers as multiples of a step.
type runs struct {
	Step   float64 `json:"step"`
	Values []int   `json:"v"`
}

// step of stored log-probabilities, in nats: an fp32 pass is 4e-6 from the exact one in the mean.
const step = 1e-6

// finest is how much finer than their rms the stored shifts are.
const finest = 16

func packed(x []float64) runs {
	var sq float64
	for _, v := range x {
		sq += v * v
	}
	r := runs{Step: rounded(math.Max(math.Sqrt(sq/float64(len(x)))/finest, 1e-9), 2)}
	for _, v := range x {
		r.Values = append(r.Values, int(math.Round(v/r.Step)))
	}
	return r
}

// rounded keeps some digits of a positive number, so that the file does not hang on the last bits.
func rounded(x float64, digits int) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-float64(digits-1))
	return math.Round(x/unit) * unit
}

func (r runs) unpacked() []float64 {
	out := make([]float64, len(r.Values))
	for i, v := range r.Values {
		out[i] = float64(v) * r.Step
	}
	return out
}

// Write packs a reference. The bytes depend on nothing but the reference.
func (r Reference) Write(w io.Writer) error {
	f := file{
		Version: 1, Model: r.Model, Source: r.Source, Members: map[string][]runs{}, Lists: map[string][][2]float64{},
		Directions: map[string]runs{},
	}
	for i, c := range r.Cells {
		f.Cells = append(f.Cells, cellFile{c.ID, c.Length, c.Depth, c.Seed, c.Burst, r.Codes[i], r.Texts[i]})
	}
	for _, d := range r.Digits {
		out := digitFile{Tokens: d.Tokens}
		last := 0
		for _, v := range d.Logs {
			n := int(math.Round(v / step))
			out.Logs = append(out.Logs, last-n)
			last = n
		}
		f.Digits = append(f.Digits, out)
	}
	for name, members := range r.Members {
		for _, m := range members {
			f.Members[name] = append(f.Members[name], packed(m))
		}
	}
	for name, members := range r.Lists {
		for _, m := range members {
			f.Lists[name] = append(f.Lists[name], [2]float64{rounded(m[0], 4), rounded(m[1], 4)})
		}
	}
	for name, d := range r.Directions {
		f.Directions[name] = packed(d)
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("packing the reference of %s: %w", r.Model, err)
	}
	if err := json.NewEncoder(z).Encode(f); err != nil {
		return fmt.Errorf("packing the reference of %s: %w", r.Model, err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("packing the reference of %s: %w", r.Model, err)
	}
	return nil
}

// Read unpacks a reference and checks that its parts fit together.
func Read(r io.Reader) (Reference, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return Reference{}, fmt.Errorf("the reference cannot be unpacked: %w", err)
	}
	var f file
	if err := json.NewDecoder(z).Decode(&f); err != nil {
		return Reference{}, fmt.Errorf("the reference cannot be read: %w", err)
	}
	if f.Version != 1 {
		return Reference{}, fmt.Errorf("the reference of %s has version %d, this tool reads 1", f.Model, f.Version)
	}
	out := Reference{
		Model: f.Model, Source: f.Source, Members: map[string][][]float64{}, Lists: f.Lists,
		Directions: map[string][]float64{},
	}
	for _, c := range f.Cells {
		out.Cells = append(out.Cells, Cell{ID: c.ID, Length: c.Length, Depth: c.Depth, Seed: c.Seed, Burst: c.Burst})
		out.Codes, out.Texts = append(out.Codes, c.Code), append(out.Texts, c.Text)
	}
	n := len(out.Cells) * digits
	bad := len(f.Digits) != n
	for _, d := range f.Digits {
		bad = bad || len(d.Tokens) != len(d.Logs) || len(d.Logs) < 2
		v, last := Digit{Tokens: d.Tokens}, 0
		for _, fall := range d.Logs {
			last -= fall
			v.Logs = append(v.Logs, float64(last)*step)
		}
		out.Digits = append(out.Digits, v)
	}
	for name, members := range f.Members {
		for _, m := range members {
			bad = bad || len(m.Values) != n
			out.Members[name] = append(out.Members[name], m.unpacked())
		}
	}
	for name, d := range f.Directions {
		bad = bad || len(d.Values) != n
		out.Directions[name] = d.unpacked()
	}
	if bad {
		return Reference{}, fmt.Errorf("the reference of %s does not fit its %d cells", f.Model, len(out.Cells))
	}
	return out, nil
}

//go:embed reference/*.json.gz
var stored embed.FS

// Models are the names of the models with a reference.
func Models() []string { return []string{"nano-v4", "nano-flash"} }

// Load reads the reference of a model.
func Load(model string) (Reference, error) {
	if !slices.Contains(Models(), model) {
		return Reference{}, fmt.Errorf("there is no exact reference of %q, but of %q", model, Models())
	}
	raw, err := stored.ReadFile("reference/" + model + ".json.gz")
	if err != nil {
		return Reference{}, fmt.Errorf("the reference of %s: %w", model, err)
	}
	return Read(bytes.NewReader(raw))
}
