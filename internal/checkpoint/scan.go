package checkpoint

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	window   = 256 << 10 // bytes read at a time: they stay in the second-level cache while they are scanned
	partSize = 8 << 20   // bytes of a unit of work; a larger tensor is split
)

// stretch is a range of bytes of one tensor.
type stretch struct {
	job      *job
	from, to int64 // bytes of the tensor
}

// part is a unit of work: stretches that lie one after another in a file.
type part struct {
	r     io.ReaderAt
	file  string
	list  []stretch
	bytes int64
}

// parts cuts the tensors of a checkpoint into units of work, in the order of their bytes.
func (p *patient) parts(jobs map[*tensor]*job) []*part {
	var out []*part
	var cur *part
	flush := func() {
		if cur != nil && cur.bytes > 0 {
			out = append(out, cur)
		}
		cur = nil
	}
	file := ""
	for _, t := range p.tensors {
		if t.file.Name() != file {
			flush()
			file = t.file.Name()
		}
		for from := int64(0); from < t.info.Size; {
			if cur == nil {
				cur = &part{file: file}
				if s, err := t.file.Section(t.stored); err == nil {
					cur.r, _, _ = s.Outer()
				}
			}
			to := min(t.info.Size, from+max(64, (partSize-cur.bytes)&^63))
			cur.list = append(cur.list, stretch{jobs[t], from, to})
			cur.bytes += to - from
			from = to
			if cur.bytes >= partSize {
				flush()
			}
		}
	}
	flush()
	return out
}

// stamp is a file's size and time when its header was read.
type stamp struct {
	size int64
	time time.Time
}

func (p *patient) stamped(name string) (stamp, error) {
	info, err := fs.Stat(p.fsys, name)
	if err != nil {
		return stamp{}, err //nolint:wrapcheck // a *fs.PathError that names the file
	}
	return stamp{info.Size(), info.ModTime()}, nil
}

// unchanged refuses an examination during which a shard was written.
func (p *patient) unchanged() error {
	for _, f := range p.files {
		now, err := p.stamped(f.Name())
		if err == nil && now == p.stamps[f.Name()] {
			continue
		}
		return fmt.Errorf("%s was changed while it was examined, so that nothing said of it would hold; wait until it is "+
			"written and examine it again", f.Name())
	}
	return nil
}

// scan looks at every byte of the checkpoint, on as many goroutines as there are processors.
func (p *patient) scan(ctx context.Context, jobs map[*tensor]*job, progress func(Progress)) error {
	parts := p.parts(jobs)
	var next, done atomic.Int64
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	started := time.Now()
	left, shardsDone := map[string]int{}, 0 // parts of a shard that are not read yet
	for _, part := range parts {
		left[part.file]++
	}
	for range min(runtime.GOMAXPROCS(0), max(1, len(parts))) {
		wg.Go(func() {
			buf := make([]byte, window)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				err := parts[i].scan(ctx, buf, &mu)
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				stop := failed != nil
				if !stop && progress != nil {
					if left[parts[i].file]--; left[parts[i].file] == 0 {
						shardsDone++
					}
					progress(Progress{
						Stage: "scan", Done: done.Add(parts[i].bytes), Total: p.bytes, Elapsed: time.Since(started),
						Shard: parts[i].file, ShardsDone: shardsDone, Shards: len(left),
					})
				}
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// scan reads the part window by window; a window starts at a stretch or inside one, never mid-element.
func (w *part) scan(ctx context.Context, buf []byte, mu *sync.Mutex) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	last := w.list[len(w.list)-1]
	end := last.job.t.info.Offset + last.to
	var lo, hi int64 // what buf holds of the file
	for _, s := range w.list {
		j, res := *s.job, result{}
		base := j.t.info.Offset
		if s.from > 0 {
			var b [8]byte
			if _, err := w.r.ReadAt(b[:j.lanes.width], base); err != nil {
				return fmt.Errorf("%s: tensor %s: its first element cannot be read: %w", w.file, j.t.stored, err)
			}
			j.repeat(b[:])
		}
		for off := s.from; off < s.to; {
			at := base + off
			need := min(s.to-off, 64)
			if at < lo || at+need > hi {
				n := min(int64(len(buf)), end-at)
				if got, err := w.r.ReadAt(buf[:n], at); int64(got) < n {
					return fmt.Errorf("%s: tensor %s: byte %d cannot be read; the file was changed while it was examined, or the "+
						"disk failed: %w", w.file, j.t.stored, at+int64(got), err)
				}
				lo, hi = at, at+n
			}
			if off == 0 {
				j.repeat(buf[at-lo:])
			}
			n := min(s.to-off, hi-at)
			if n < s.to-off {
				n &^= 63
			}
			j.piece(&res, off, buf[at-lo:at-lo+n])
			off += n
		}
		mu.Lock()
		j.t.scan.merge(res)
		mu.Unlock()
	}
	return nil
}

// repeat puts the tensor's first element, which b starts with, into every lane.
func (j *job) repeat(b []byte) {
	j.first = 0
	for i := range 8 {
		j.first |= uint64(b[i%j.lanes.width]) << (8 * i)
	}
}
