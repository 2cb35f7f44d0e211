package inflate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/safetensors"
)

// job is a tensor, how it is stored and the file that it goes to.
type job struct {
	tensor
	as    storage
	parts []stored
	shard int
	bytes int64
}

// write writes the shards and their index into dir.
func write(ctx context.Context, dir string, o Options, list []tensor) (s Summary, err error) {
	jobs, shards := plan(o, list)
	s.Tensors, s.Shards = 0, shards
	perShard, index := make([][]safetensors.Tensor, shards), map[string]string{}
	for _, j := range jobs {
		for _, p := range j.parts {
			perShard[j.shard] = append(perShard[j.shard], p.Tensor)
			index[p.Name] = shardName(j.shard, shards)
			s.Tensors++
		}
		n := int64(1)
		for _, d := range j.shape {
			n *= int64(d)
		}
		s.Parameters += n
		s.Bytes += j.bytes
	}
	twins := map[string]tensor{}
	for _, t := range list {
		twins[t.name] = t
	}
	progress := report.NewProgress(o.Progress, report.ProgressOptions{
		Label: "inflate", Total: len(jobs), Cost: float64(s.Bytes),
	})
	defer progress.Done()
	for i := range shards {
		if err := writeShard(ctx, filepath.Join(dir, shardName(i, shards)), perShard[i], of(jobs, i), twins, progress); err !=
			nil {
			return s, err
		}
	}
	raw, err := indented(map[string]any{
		"metadata":   map[string]any{"total_size": s.Bytes, "assay.padding": o.FromName + " in " + o.Shape.Name},
		"weight_map": index,
	})
	if err != nil {
		return s, err
	}
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), raw, 0o644); err != nil {
		return s, fmt.Errorf("writing the index: %w", err)
	}
	return s, nil
}

func shardName(i, n int) string { return fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, n) }

func of(jobs []job, shard int) []job {
	var some []job
	for _, j := range jobs {
		if j.shard == shard {
			some = append(some, j)
		}
	}
	return some
}

// plan says how every tensor is stored and in which shard.
func plan(o Options, list []tensor) (jobs []job, shards int) {
	var filled int64
	for _, t := range list {
		j := job{tensor: t, as: o.Format.as[t.role]}
		j.parts = t.parts(o.Format.spell(t.name), j.as)
		for _, p := range j.parts {
			n := int64(p.DType.Bits()) / 8
			for _, d := range p.Shape {
				n *= int64(d)
			}
			j.bytes += n
		}
		if shards == 0 || filled+j.bytes > o.Shard {
			shards++
			filled = 0
		}
		filled += j.bytes
		j.shard = shards - 1
		jobs = append(jobs, j)
	}
	return jobs, shards
}

func writeShard(ctx context.Context, path string, header []safetensors.Tensor, jobs []job,
	twins map[string]tensor, progress *report.Progress,
) error {
	out, err := safetensors.Create(path, map[string]string{"format": "pt"}, header...)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := j.write(ctx, out, twins[j.twin]); err != nil {
			return errors.Join(err, out.Abandon())
		}
		progress.AddCost(1, float64(j.bytes))
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) // an engine often runs as another user
}

// blockRows is how many rows are encoded at once: a block of block-fp8 is never cut.
const blockRows = 128

// write computes a tensor and writes it, blocks of rows over all cores.
func (j job) write(ctx context.Context, out *safetensors.Stream, twin tensor) error {
	if j.ids != nil {
		ids, err := j.ids()
		if err != nil {
			return err
		}
		var raw []byte
		for _, id := range ids {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(id))
		}
		return out.WriteAt(j.parts[0].Name, 0, raw)
	}
	m, err := j.build()
	if err != nil {
		return err
	}
	amax := float32(0)
	if j.as == nvfp4 { // ModelOpt shares one factor between w1 and w3
		worst := m.amax()
		if twin.build != nil {
			other, err := twin.build()
			if err != nil {
				return err
			}
			worst = max(worst, other.amax())
		}
		amax = float32(worst)
		if err := j.factors(out, amax); err != nil {
			return err
		}
	}
	blocks := make(chan int)
	errs := make(chan error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			x := make([]float64, blockRows*m.cols)
			var failed error
			for b := range blocks {
				if failed == nil {
					failed = j.block(out, m, b, x, amax)
				}
			}
			errs <- failed
		})
	}
	for b := 0; b*blockRows < m.rows && ctx.Err() == nil; b++ {
		blocks <- b
	}
	close(blocks)
	wg.Wait()
	close(errs)
	err = ctx.Err()
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// block writes rows b·blockRows and on.
func (j job) block(out *safetensors.Stream, m *matrix, b int, x []float64, amax float32) error {
	from := b * blockRows
	rows := min(blockRows, m.rows-from)
	x = x[:rows*m.cols]
	m.fill(from, x)
	codes, scales, err := encode(j.as, x, m.cols, amax)
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	if err := out.WriteAt(j.parts[0].Name, int64(from)*int64(len(codes)/rows), codes); err != nil {
		return err
	}
	if scales == nil {
		return nil
	}
	at := int64(b) * int64(len(scales)) // whole blocks come before the last
	if rows < blockRows {
		at = int64(j.parts[1].DType.Bits()/8)*int64(product(j.parts[1].Shape)) - int64(len(scales))
	}
	return out.WriteAt(j.parts[1].Name, at, scales)
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// factors writes NVFP4's factor over the scales and that of the activations.
func (j job) factors(out *safetensors.Stream, amax float32) error {
	word := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	const top = 6 * 448 // the largest e2m1 times the largest e4m3
	return errors.Join(
		out.WriteAt(j.parts[2].Name, 0, word(amax/top)),
		out.WriteAt(j.parts[3].Name, 0, word(activation/top)),
	)
}
