package scripted

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kind is one fault as it is known to users.
type Kind struct {
	ID      string // FK01 to FK44
	Slug    string
	Trigger string // when it shows, in words
	Effect  string // what is then seen
	Class   string // the diagnosis that is right for it
	Loses   bool   // whether it can cost a needle of an ordinary recall probe
	Params  []Param
}

// Param is a number or a variant that is drawn from the seed.
type Param struct {
	Name    string
	Choices []int    // for numbers
	Words   []string // for variants; the value is the index
}

// Params are the drawn values of one fault by name; a variant is the index of its word.
type Params map[string]int

func num(name string, choices ...int) Param { return Param{Name: name, Choices: choices} }
func variant(words ...string) Param         { return Param{Name: "variant", Words: words} }
func missStyle(words ...string) Param       { return Param{Name: "miss", Words: words} }
func (p Param) value(r *rand.Rand) int      { return p.at(r.IntN(max(len(p.Choices), len(p.Words)))) }

func (p Param) at(i int) int {
	if p.Words != nil {
		return i
	}
	return p.Choices[i]
}

// fault is a kind with its trigger and effects as data. Effects run at their stage when all conditions that the
// stage can know hold; nil effects do nothing.
type fault struct {
	Kind
	when []cond
	more string // what the effect itself waits for, in words
	// render changes the template and the sampling, admit the prompt, see the view, say the answer, send the wire.
	render, admit, see, say, send func(a *armed, c *call)
}

// cond is one condition: what, by the name of its parameter.
type cond struct{ what, param string }

// armed is a fault with drawn parameters in an engine.
type armed struct {
	*fault
	par  Params
	seed uint64
	only func(c *call) bool // FK42: on one replica
}

func (a *armed) word(name string) string {
	for _, p := range a.Params {
		if p.Name == name && p.Words != nil {
			return p.Words[a.par[name]]
		}
	}
	return ""
}

// roll is a draw in [0, 1) that belongs to this fault, this request, its n-th coming and a salt.
func (a *armed) roll(c *call, salt string) float64 {
	return unit(mix(hash64(a.ID, salt) ^ mix(a.seed^mix(c.key^uint64(c.occ)<<32^uint64(c.choice)<<56))))
}

// fixed is a draw that belongs to the request's content alone: it repeats.
func (a *armed) fixed(c *call, salt string) float64 {
	return unit(mix(hash64(a.ID, salt) ^ mix(a.seed^c.key)))
}

// holds reports whether the trigger is met.
func (a *armed) holds(c *call) bool {
	if a.only != nil && !a.only(c) {
		return false
	}
	for _, k := range a.when {
		if !conditions[k.what].met(a, c, a.par[k.param]) {
			return false
		}
	}
	return true
}

// Kinds returns the catalogue, FK01 to FK44 in order.
func Kinds() []Kind {
	var out []Kind
	for _, f := range catalogue() {
		f.Trigger = f.trigger(nil)
		out = append(out, f.Kind)
	}
	return out
}

// trigger words the conditions; with parameters their values are given.
func (f *fault) trigger(par Params) string {
	var out []string
	if f.more != "" {
		out = append(out, f.more)
	}
	for _, k := range f.when {
		words := conditions[k.what].words
		if strings.Contains(words, "%s") {
			value := k.param
			if par != nil {
				value = fmt.Sprint(par[k.param])
			}
			words = fmt.Sprintf(words, value)
		}
		out = append(out, words)
	}
	if len(out) == 0 {
		return "always"
	}
	return strings.Join(out, ", ")
}

// Lookup finds a kind by slug or id.
func Lookup(name string) (Kind, error) {
	f, err := lookup(name)
	if err != nil {
		return Kind{}, err
	}
	k := f.Kind
	k.Trigger = f.trigger(nil)
	return k, nil
}

func lookup(name string) (*fault, error) {
	all := append(catalogue(), losses()...)
	i := slices.IndexFunc(all, func(f *fault) bool { return f.Slug == name || strings.EqualFold(f.ID, name) })
	if i < 0 {
		var slugs []string
		for _, f := range all {
			slugs = append(slugs, f.Slug)
		}
		return nil, fmt.Errorf("scripted fault %q is unknown: use one of %s", name, strings.Join(slugs, ", "))
	}
	return all[i], nil
}

// Draw returns the parameters that a fault has under a seed.
func Draw(name string, seed uint64) (Params, error) {
	f, err := lookup(name)
	if err != nil {
		return nil, err
	}
	return f.draw(seed), nil
}

func (f *fault) draw(seed uint64) Params {
	r := rand.New(rand.NewPCG(seed, hash64("draw", f.ID)))
	par := Params{}
	for _, p := range f.Params {
		par[p.Name] = p.value(r)
	}
	if n := par["modulus"]; n > 0 {
		par["residue"] = r.IntN(n)
	}
	if n := par["replicas"]; n > 0 {
		par["bad-replica"] = r.IntN(n)
	}
	return par
}

// describe words a fault with its drawn parameters on one line.
func (a *armed) describe() string {
	var out []string
	for _, p := range a.Params {
		v := fmt.Sprint(a.par[p.Name])
		if p.Words != nil {
			v = p.Words[a.par[p.Name]]
		}
		out = append(out, p.Name+"="+v)
	}
	for _, extra := range []string{"residue", "bad-replica"} {
		if v, ok := a.par[extra]; ok {
			out = append(out, fmt.Sprintf("%s=%d", extra, v))
		}
	}
	line := fmt.Sprintf("%s %s [%s]", a.ID, a.Slug, strings.Join(out, " "))
	return line + ": when " + a.trigger(a.par) + ": " + a.Effect
}
