package tape

import (
	"context"
	"sync"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// most is how many bytes of outputs a row may have to be kept.
const most = 24 << 10

// Recorder is a candidate that notes the answers of another one, since Begin.
type Recorder struct {
	Under bench.Candidate

	lock    sync.Mutex
	answers []Answer
	digests map[string]int
	bytes   int
	broken  bool
}

// Hello is the other candidate's.
func (r *Recorder) Hello(ctx context.Context) (bench.Hello, error) { return r.Under.Hello(ctx) }

// Run asks the other candidate.
func (r *Recorder) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	inputs := ""
	if !r.broken && r.bytes <= most {
		var err error
		if inputs, err = Digest(call); err != nil {
			r.broken = true
		}
	}
	reply, err := r.Under.Run(ctx, call)
	if r.broken = r.broken || err != nil || len(call.BatchWith) > 0; r.broken || r.bytes > most {
		return reply, err
	}
	outputs, digest, n, packed := pack(reply.Outputs)
	if packed != nil {
		r.broken = true
		return reply, err
	}
	a := Answer{Inputs: inputs}
	if at, seen := r.digests[digest]; seen {
		a.Same = &at
	} else {
		r.digests[digest] = len(r.answers)
		a.Outputs = outputs
		r.bytes += n
	}
	r.answers = append(r.answers, a)
	return reply, nil
}

// Begin forgets what was noted.
func (r *Recorder) Begin() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.answers, r.digests, r.bytes, r.broken = nil, map[string]int{}, 0, false
}

// Taken are the answers since Begin, and how many bytes they hold; nothing where one failed or they are too large to
// keep.
func (r *Recorder) Taken() ([]Answer, int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.broken || r.bytes > most {
		return nil, 0
	}
	return r.answers, r.bytes
}

// Vouch runs another implementation on a case and returns what makes it a second reference; by is empty where the judge
// does not accept it or it does not answer.
func Vouch(ctx context.Context, c bench.Case, by bench.Candidate) (Vouched, error) {
	h, err := by.Hello(ctx)
	if err != nil {
		return Vouched{}, err
	}
	b, err := bench.New(c)
	if err != nil {
		return Vouched{}, err
	}
	report, err := b.Judge(ctx, by)
	if ctx.Err() != nil {
		return Vouched{}, ctx.Err()
	}
	if err != nil || !report.Accepted() {
		return Vouched{}, nil //nolint:nilerr // it does not vouch, which is no error of the run
	}
	reply, err := by.Run(ctx, b.Call())
	if err != nil {
		return Vouched{}, nil //nolint:nilerr // as above
	}
	_, digest, _, err := pack(reply.Outputs)
	return Vouched{By: h.Name + " " + h.Version, Rho: report.Rho(), Digest: digest}, err
}
