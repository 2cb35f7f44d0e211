package exact

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// Formats are the number formats that can be declared, sharpest first.
func Formats() []string { return []string{"fp32", "bf16", "mixed", "fp8", "mxfp4", "nvfp4"} }

// Named is the reference that a served name stands for, and the format that its ending tells; empty where it tells
// none.
func Named(served string) (model, format string) {
	slug := strings.ToLower(served)
	for _, m := range Models() {
		if strings.Contains(slug, m) {
			model = m
		}
	}
	for _, f := range Formats() {
		if model != "" && strings.HasSuffix(slug, "-"+f) {
			format = f
		}
	}
	return model, format
}

// Hint reports whether an endpoint may serve a nano model, by its name or by the vocabulary of the pre-flight's answer.
// It sends nothing.
func Hint(f endpoint.Preflight) bool {
	model, _ := Named(f.Model)
	return model != "" || Speaks(f.Sample)
}

// recognising is how many short prompts have to be answered exactly before an endpoint is held to a reference.
const recognising = 5

// recognise asks short prompts that all references share, and wants the vocabulary and five exact answers. The model is
// the one whose margins are nearest; why is a clause, in particular where no model is recognised.
func (a *Asker) recognise(ctx context.Context, h *needle.Haystack) (r Reference, why string, err error) {
	if a.Flight.Logprobs() == 0 {
		return r, "the server gives no log-probabilities to compare", nil
	}
	var refs []Reference
	for _, m := range Models() {
		ref, err := Load(m)
		if err != nil {
			return r, "", err
		}
		refs = append(refs, ref)
	}
	var tokens []endpoint.Token
	far := make([]float64, len(refs))
	sent, right := 0, 0
	for i, c := range refs[0].Cells {
		if sent == recognising {
			break
		}
		if !shared(refs, i) || a.tooLong(c) {
			continue
		}
		p, err := Build(ctx, h, c)
		if err != nil {
			return r, "", err
		}
		s := a.send(ctx, a.Client, p, i, first)
		if fatal(ctx, s.Err) {
			return r, "", s.Err
		}
		sent++
		if more, yes := s.wrongFrame(c); yes {
			return r, fmt.Sprintf("the server reads %d tokens where the prompt has %d: another tokenizer or chat template",
				c.Length+more, c.Length), nil
		}
		if tokens = append(tokens, s.tokens...); s.Exact {
			right++
		}
		for k, ref := range refs {
			s.read(p.Code, ref.Digits[i*digits:(i+1)*digits])
			far[k] += distance(s, ref)
		}
	}
	switch {
	case sent < recognising:
		return r, fmt.Sprintf("the context window holds %d of the %d prompts that tell the model", sent, recognising), nil
	case !Speaks(tokens):
		return r, "its tokens are not of the nano models' vocabulary", nil
	case right < recognising:
		return r, fmt.Sprintf("%d of %d short prompts are answered exactly, which takes all of them", right, recognising), nil
	}
	best, name := 0, -1
	called, _ := Named(a.Flight.Model)
	for k := range far {
		if far[k] /= float64(sent); far[k] < far[best] {
			best = k
		}
		if called == refs[k].Model {
			name = k
		}
	}
	why = fmt.Sprintf("vocabulary and %d of %d exact answers", right, sent)
	switch {
	case name >= 0 && far[best] >= far[name]/clearly:
		best = name // a fault may move its margins towards another's
	case name >= 0:
		why += fmt.Sprintf("; served as %s, and its margins are not that model's", refs[name].Model)
	case far[best] > foreign:
		return r, fmt.Sprintf("its margins are those of no model with a reference: %.2g nats from %s's", far[best],
			refs[best].Model), nil
	}
	return refs[best], why, nil
}

const (
	// foreign is the mean distance of margins from which on a model without a name is none of ours, in nats: emulated
	// engines of the coarsest format are 0.6 away in the rms.
	foreign = 1.2
	// clearly is how much nearer another model's margins must be than those of the model that a server is named after.
	clearly = 4
)

// shared reports whether all references have one prompt at a cell.
func shared(refs []Reference, i int) bool {
	for _, r := range refs {
		if i >= len(r.Texts) || r.Texts[i] != refs[0].Texts[i] {
			return false
		}
	}
	return true
}

// distance is the mean distance of an answer's margins from a reference's, in nats.
func distance(s Seen, r Reference) float64 {
	sum, n := 0.0, 0.0
	for j, m := range s.Margins {
		if !math.IsNaN(m) {
			sum += math.Abs(m - r.Digits[s.Cell*digits+j].Margin())
			n++
		}
	}
	return sum / max(n, 1)
}
