package checkpoint

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/assay-suite/assay/internal/quant"
)

// ExamineIndex checks an index without its shards: its JSON, and its names and their number against a
// config.json. Nothing is downloaded yet when this can be asked.
func ExamineIndex(index, config []byte) (Report, error) {
	p := newPatient(nil)
	c, err := ParseConfig(config)
	if err != nil {
		return Report{}, fmt.Errorf("checkpoint: %w", err)
	}
	p.config, p.rawConfig = &c, config
	if p.plan, err = quant.ParsePlan(config, nil); err != nil {
		return Report{}, fmt.Errorf("checkpoint: %w", err)
	}
	ix, err := parseIndex(index)
	if err != nil {
		return Report{}, fmt.Errorf("checkpoint: the index: %w", err)
	}
	p.index = ix
	for _, name := range ix.repeated {
		p.add(Certain, KindIndexStale, []string{name}, "the weight_map lists %s twice, so readers disagree on its shard; "+
			"write the index again from the shards", name)
	}
	p.tensors = make([]*tensor, 0, len(ix.names))
	all := make([]tensor, len(ix.names))
	p.byCanon = make(map[string]*tensor, len(ix.names))
	for i, name := range ix.names {
		all[i] = p.newTensor(name)
		t := &all[i]
		before := len(p.byCanon)
		p.byCanon[t.canon] = t
		if len(p.byCanon) == before {
			p.add(Certain, KindTwoSpellings, []string{name}, "%s means the same tensor as another listed name (%s); remove one "+
				"of the two", name, t.canon)
			continue
		}
		p.tensors = append(p.tensors, t)
	}
	p.learnSchemes()
	r := Report{Family: c.Name, Shards: len(ix.shards), Tensors: len(p.tensors)}
	if !p.listed() {
		p.namesAlone()
	} else {
		r.Expected = p.matchNames()
	}
	r.Findings, r.Seconds = p.sorted(), time.Since(p.started).Seconds()
	return r, nil
}

// ExamineHeaders checks index against shards, both ways, from their headers alone. It gives the number of
// tensors and what is wrong.
func ExamineHeaders(fsys fs.FS) (int, []Finding, error) {
	p := newPatient(fsys)
	defer p.close()
	if err := p.load(nil); err != nil {
		return 0, nil, fmt.Errorf("checkpoint: %w", err)
	}
	return len(p.tensors), p.sorted(), nil
}
