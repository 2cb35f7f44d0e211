package checkpoint

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// Deviation is how a tensor differs from the base.
type Deviation struct {
	Tensor    string
	RelL2     float64 // root of sum (v - w)^2 over sum w^2, w the base
	HalfSteps float64 // largest |v - w| in half quantisation steps at v; at most 1 when rounded to nearest
	Outside   int     // values beyond half a step
}

// baseWorkers bounds memory: each holds some arrays of a strip of a tensor.
const baseWorkers = 4

// againstBase compares every value with the same tensor of the base: v, as stored, must be within half a
// quantisation step of the base's w, which is what rounding to nearest under the stored scale allows. Where
// the base is quantised itself, its own half step is allowed on top.
func (p *patient) againstBase(ctx context.Context, o Options) error {
	b := newPatient(o.Base)
	defer b.close()
	if err := b.load(nil); err != nil {
		return err
	}
	for _, f := range b.findings {
		if f.Severity == Certain {
			p.add(Note, f.Kind, f.Tensors, "the base itself: %s", f.Text)
		}
	}
	b.readConfig(o.Config)
	b.readPlan()
	b.assemble()
	b.learnSchemes()
	var list []*tensor
	total := int64(0)
	for _, t := range p.tensors {
		if p.isScale(t) {
			continue
		}
		if t.part != quant.None {
			continue
		}
		if b.counterpart(t) == nil {
			p.add(Note, KindBaseShape, []string{t.stored}, "the base has no %s, so it was not compared", t.canon)
			continue
		}
		list = append(list, t)
		total += t.info.Size
	}
	var next, done atomic.Int64
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	started := time.Now()
	for range min(baseWorkers, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				err := p.against(ctx, b, list[i], &mu)
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				stop := failed != nil
				if !stop {
					tell(o.Progress, "base", done.Add(list[i].info.Size), total, started)
				}
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(p.deviations, func(a, b Deviation) int {
		return cmp.Or(cmp.Compare(b.HalfSteps, a.HalfSteps), cmp.Compare(b.RelL2, a.RelL2), cmp.Compare(a.Tensor, b.Tensor))
	})
	return failed
}

// against compares one tensor and diagnoses what lies outside.
func (p *patient) against(ctx context.Context, b *patient, t *tensor, mu *sync.Mutex) error {
	if t.odd() || t.info.Elements() == 0 {
		return nil // said already; nothing to compare
	}
	other := b.counterpart(t)
	if !isReal(t.info.DType) && t.weight == nil {
		return p.integers(t, other, mu)
	}
	v, okV := p.valuesOf(t)
	w, okW := b.valuesOf(other)
	if !okV || !okW {
		return nil // its missing or misshapen scales have been blamed
	}
	if v.w != nil && w.w != nil && v.w.InputMajor != w.w.InputMajor {
		w = w.flipped()
	}
	if v.rows != w.rows || v.cols != w.cols {
		mu.Lock()
		defer mu.Unlock()
		p.add(Certain, KindBaseShape, []string{t.stored}, "%s is [%d, %d], in the base [%d, %d]; the two are not of one "+
			"model, or a tensor was replaced", t.stored, v.rows, v.cols, w.rows, w.cols)
		return nil
	}
	d, err := deviation(ctx, v, w)
	if err != nil {
		return err
	}
	d.Tensor = t.stored
	var f *Finding
	if d.Outside > 0 {
		if f, err = p.diagnose(b, v, w, d); err != nil {
			return err
		}
		if p.loose && f.Kind == KindBaseDiffers && v.q != nil && d.RelL2 < tolerance(v) {
			f.Severity = Note // a quantiser need not round to nearest: GPTQ does not
		}
	}
	mu.Lock()
	defer mu.Unlock()
	p.deviations = append(p.deviations, d)
	if f != nil {
		p.add(f.Severity, f.Kind, f.Tensors, "%s", f.Text)
	}
	return nil
}

// plainName is the canonical name that a weight has before it is quantised.
func (t *tensor) plainName() string {
	if t.weight == nil {
		return t.canon
	}
	return Canonical(t.weight.Module + ".weight")
}

// counterpart is the tensor of the base that holds the same weight, whatever its scheme calls it.
func (p *patient) counterpart(t *tensor) *tensor {
	if same := p.byCanon[t.canon]; same != nil || t.weight == nil {
		return same
	}
	if p.byModule == nil {
		p.byModule = map[string]*tensor{}
		for _, x := range p.tensors {
			if x.weight != nil {
				p.byModule[x.plainName()] = x
			}
		}
	}
	return p.byModule[t.plainName()]
}

// tolerance is the relative error that a sound quantiser of the scheme leaves, with room of about two: 0.12 at 4 bits
// with a scale for each 128 inputs, 0.025 in fp8, 0.01 at 8 bits.
func tolerance(v weight) float64 {
	if v.w.Layout == quant.FP8 || v.w.Layout == quant.MXFP8 || v.w.Declared().Bits >= 6 {
		return 0.06
	}
	return 0.3
}

// isReal tells whether a stored dtype holds real numbers, packed codes included.
func isReal(d safetensors.DType) bool {
	switch d {
	case safetensors.I16, safetensors.U16, safetensors.I32, safetensors.U32, safetensors.I64, safetensors.U64,
		safetensors.Bool, safetensors.C64:
		return false
	}
	return true
}

// integers compares tables.
func (p *patient) integers(t, other *tensor, mu *sync.Mutex) error {
	if t.info.DType == safetensors.U64 || t.info.DType == safetensors.Bool || t.info.DType == safetensors.C64 {
		return nil // no known checkpoint stores these
	}
	if isReal(other.info.DType) {
		mu.Lock()
		defer mu.Unlock()
		p.add(Certain, KindDType, []string{t.stored}, "%s is stored as %s, in the base as %s: the header was relabelled; "+
			"convert it again", t.stored, t.info.DType, other.info.DType)
		return nil
	}
	a, err := t.file.Int64s(t.stored)
	if err != nil {
		return err
	}
	b, err := other.file.Int64s(other.stored)
	if err != nil {
		return err
	}
	wrong, first := 0, -1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	switch {
	case len(a) != len(b):
		p.add(Certain, KindBaseShape, []string{t.stored}, "%s has %d entries, in the base %d", t.stored, len(a), len(b))
	case wrong > 0:
		p.add(Certain, KindBaseDiffers, []string{t.stored}, "%s differs from the base in %d of %d entries, first at %d (%d, "+
			"in the base %d); copy it from the base", t.stored, wrong, len(a), first, a[first], b[first])
	}
	return nil
}
