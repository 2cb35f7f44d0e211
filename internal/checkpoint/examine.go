package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// Options change what Examine does; the zero value examines everything that the folder alone allows.
type Options struct {
	Config []byte // config.json, for a folder without one; the folder's own goes first
	Base   fs.FS  // another checkpoint of the same model to compare every value with
	// Reference says that Base is what the checkpoint was quantised from: a quantiser need not round to nearest, so that
	// an error within what its scheme leaves is no fault.
	Reference bool
	Progress  func(Progress) // called from one goroutine at a time
	ScanOnly  bool           // headers, names, storage and the class scan; no distributions
}

// Examine examines the checkpoint at the root of fsys: model.safetensors, or the shards of an index, with
// config.json where there is one. What is wrong with the checkpoint is in the report; the error is about
// examining: a folder without a checkpoint, a failing disk, a cancelled context.
//
// Files of fsys must implement io.ReaderAt, as those of os.DirFS and embed.FS do. Resident memory is the
// headers (about 1 kB a tensor), a window for each processor, and corners of one expert for each.
func Examine(ctx context.Context, fsys fs.FS, o Options) (Report, error) {
	p := newPatient(fsys)
	defer p.close()
	p.loose = o.Reference
	p.readConfig(o.Config)
	p.readPlan()
	if err := p.load(o.Progress); err != nil {
		return Report{}, fmt.Errorf("checkpoint: %w", err)
	}
	p.assemble()
	expected := p.names()
	quants := p.quantised()
	p.assembly(quants)
	if err := p.contents(ctx, quants, o); err != nil {
		return Report{}, fmt.Errorf("checkpoint: %w", err)
	}
	if err := p.unchanged(); err != nil {
		return Report{}, fmt.Errorf("checkpoint: %w", err)
	}
	if o.Base != nil {
		if err := p.againstBase(ctx, o); err != nil {
			return Report{}, fmt.Errorf("checkpoint: base: %w", err)
		}
	}
	r := Report{
		Shards: len(p.files), Tensors: len(p.tensors), Expected: expected, Bytes: p.bytes,
		Seconds: time.Since(p.started).Seconds(), Findings: p.sorted(), Base: p.deviations, Skipped: p.skipped,
		Formats: p.formats(), Plan: p.planned(),
	}
	if p.config != nil {
		r.Family = p.config.Name
	}
	return r, nil
}

func newPatient(fsys fs.FS) *patient {
	return &patient{
		fsys:    fsys,
		started: time.Now(),
		byCanon: map[string]*tensor{},
		lost:    map[string]bool{},
		missed:  map[string]bool{},
		stamps:  map[string]stamp{},
		plan:    &quant.Plan{},
		blamed:  map[*tensor]bool{},
	}
}

func (p *patient) close() {
	for _, f := range p.files {
		_ = f.Close() // only read from
	}
}

// readConfig takes the folder's config.json, or the one given.
func (p *patient) readConfig(given []byte) {
	raw, err := fs.ReadFile(p.fsys, "config.json")
	if errors.Is(err, fs.ErrNotExist) && given != nil {
		raw, err = given, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.skipped = append(p.skipped, "names, counts and shapes against config.json: the folder has none")
		return
	}
	if err != nil {
		p.add(Certain, KindConfig, nil, "config.json cannot be used: %v", err)
		return
	}
	c, err := ParseConfig(raw)
	if err != nil {
		p.add(Certain, KindConfig, nil, "config.json cannot be used: %v", err)
		return
	}
	p.config, p.rawConfig = &c, raw
	if c.Family == "" {
		p.skipped = append(p.skipped, "every name and shape against config.json: only the DeepSeek V3.2 and V4 families "+
			"have "+
			"a complete list here; others are examined by peers and by what their config fixes")
	}
}

// readPlan learns how the checkpoint says that it is stored.
func (p *patient) readPlan() {
	hf, err := fs.ReadFile(p.fsys, "hf_quant_config.json")
	if err != nil {
		hf = nil
	}
	plan, err := quant.ParsePlan(p.rawConfig, hf)
	if err != nil {
		p.add(Certain, KindConfig, nil, "%v", err)
	}
	p.plan = plan
	for _, name := range []string{"quantize_config.json", "quant_config.json"} {
		if raw, err := fs.ReadFile(p.fsys, name); err == nil && !plan.Declared {
			if err := plan.Beside(name, raw); err != nil {
				p.add(Certain, KindConfig, nil, "%v", err)
			}
		}
	}
	for _, entry := range plan.Unread {
		p.skipped = append(p.skipped, "the entry "+strconv.Quote(entry)+" of a list of modules: Go cannot read this "+
			"regular expression")
	}
	if p.config != nil && p.config.Family != "" {
		plan.Assume("block", [2]int{128, 128})
	}
}

// planned says what is declared.
func (p *patient) planned() string {
	switch {
	case p.plan.Refused != "":
		return p.plan.Refused
	case !p.plan.Declared:
		return "no quantisation is declared; schemes are told from dtypes and names"
	}
	return p.plan.Method + ", by " + p.plan.Source
}

// names runs everything that needs headers only and gives the number of tensors that there should be.
func (p *patient) names() (expected int) {
	p.learnSchemes()
	if !p.listed() {
		p.namesAlone()
		p.minorities()
		p.structure()
		return 0
	}
	expected = p.matchNames()
	p.matchStorage()
	p.special()
	p.rope()
	p.chat()
	return expected
}

// listed tells whether every tensor is known by name: a family with a complete list, stored in one of its known forms.
func (p *patient) listed() bool {
	if p.config == nil || p.config.Family == "" {
		return false
	}
	for _, layout := range p.plan.Layouts() {
		switch layout {
		case quant.FP8, quant.MXFP4, quant.NVFP4:
		default:
			return false
		}
	}
	return true
}

// contents runs everything that reads tensor data of this checkpoint.
func (p *patient) contents(ctx context.Context, quants []*coded, o Options) error {
	if err := p.scan(ctx, p.jobs(quants, !o.ScanOnly), o.Progress); err != nil {
		return err
	}
	p.classes()
	p.holed()
	p.gateUp()
	if err := p.tables(ctx); err != nil {
		return err
	}
	if o.ScanOnly {
		return nil
	}
	if err := p.zeroScales(quants); err != nil {
		return err
	}
	p.blockTops(quants)
	p.scaleTops(quants)
	if err := p.twins(); err != nil {
		return err
	}
	if err := p.copies(ctx); err != nil {
		return err
	}
	all, err := p.profiles(ctx, o.Progress)
	if err != nil {
		return err
	}
	p.balances(all)
	p.nibbles(all)
	if err := p.magnitudes(all); err != nil {
		return err
	}
	if err := p.ranges(); err != nil {
		return err
	}
	if err := p.relabelled(); err != nil {
		return err
	}
	if err := p.sideways(); err != nil {
		return err
	}
	if err := p.square(); err != nil {
		return err
	}
	return p.zeroPoints(quants)
}

// jobs says for every tensor what the scan looks for: its class, the sign of scales, and, with tops, whether
// blocks reach their top codes.
func (p *patient) jobs(quants []*coded, tops bool) map[*tensor]*job {
	out := make(map[*tensor]*job, len(p.tensors))
	list := make([]job, len(p.tensors))
	for i, t := range p.tensors {
		list[i] = newJob(t)
		list[i].scale = p.isScale(t)
		list[i].signed = p.signed(t)
		list[i].holes, list[i].stride = canBeHoled(t), t.holeStride()
		if tops && canBeCopied(t) {
			list[i].marks = markBits(p.bytes)
		}
		out[t] = &list[i]
	}
	for _, q := range quants {
		out[q.weight].fp4 = q.scheme == mxfp4 || q.scheme == nvfp4
		if !tops {
			continue
		}
		switch {
		case q.scheme == mxfp4 && q.cols > 0 && q.cols%32 == 0, q.scheme == nvfp4 && q.cols > 0 && q.cols%16 == 0:
			out[q.weight].codes = q.scheme
		}
		if q.scheme == nvfp4 && q.scale != nil && q.scale.info.DType == safetensors.F8E4M3 {
			out[q.scale].tops = true
		}
	}
	return out
}
