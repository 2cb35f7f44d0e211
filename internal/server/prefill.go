package server

import (
	"context"
	"fmt"
)

// prefill takes a prompt in and returns the state and the logits of its last position.
//
// Cold = warm, bit for bit: floating-point sums depend on how a prompt is cut into chunks, so every
// prompt is cut on one grid of absolute positions (multiples of Config.Chunk), and states are kept at
// grid points only. A warm prompt then runs exactly the chunks that a cold one runs from there. For the
// same reason answers are not kept: decode steps are chunks of one token, which no prompt would use.
//
// The hit is at most all but the last token, as logits are needed.
func (s *Server) prefill(ctx context.Context, ids []int, salt string) (st State, row []float64, cached int, err error) {
	chunk, n := s.cfg.Chunk, len(ids)
	keys := prefixKeys(salt, ids, chunk)
	st, epoch := s.cache.longest(keys[:(n-1)/chunk])
	if st == nil {
		st = s.engine.NewState()
	}
	cached = st.Len()
	for pos := cached; pos < n; {
		end := min(pos+chunk, n)
		last := 0
		if end == n {
			last = 1
		}
		rows, err := s.extend(ctx, st, ids[pos:end], last)
		if err != nil {
			return nil, nil, cached, err
		}
		if last == 1 {
			row = rows[0]
		}
		pos = end
		if s.keep(pos, n) && !s.cache.has(keys[pos/chunk-1]) {
			s.cache.put(keys[pos/chunk-1], st.Clone(), epoch)
		}
	}
	return st, row, cached, nil
}

// keep chooses the grid points worth a state: every CacheStep tokens, and the last ones of the prompt,
// where its repetition and its continuation will look.
func (s *Server) keep(pos, n int) bool {
	chunk := s.cfg.Chunk
	return s.cfg.CacheTokens > 0 && pos%chunk == 0 && (pos%s.cfg.CacheStep == 0 || pos >= (n-1)/chunk*chunk)
}

// prefillAll is prefill with the logits of every position, for echo. Rows for all positions make other
// matrix shapes and so, perhaps, other last bits: it neither uses nor feeds the cache (vLLM's
// prompt_logprobs skip it as well).
func (s *Server) prefillAll(ctx context.Context, ids []int) (st State, rows [][]float64, err error) {
	st = s.engine.NewState()
	rows = make([][]float64, 0, len(ids))
	for pos := 0; pos < len(ids); {
		end := min(pos+s.cfg.Chunk, len(ids))
		got, err := s.extend(ctx, st, ids[pos:end], end-pos)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, got...)
		pos = end
	}
	return st, rows, nil
}

// extend runs one chunk or one decode step under the compute limit, and checks what comes back. The
// limit is taken per step, so that a short request is not stuck behind a long prefill.
func (s *Server) extend(ctx context.Context, st State, ids []int, last int) ([][]float64, error) {
	select {
	case s.compute <- struct{}{}:
		defer func() { <-s.compute }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both were ready
		return nil, err
	}
	before := st.Len()
	rows, err := st.Extend(ctx, ids, last)
	if err != nil {
		return nil, err
	}
	if len(rows) != last || st.Len() != before+len(ids) {
		return nil, fmt.Errorf("it returned %d rows and length %d for %d tokens after %d, want %d rows", len(rows), st.Len(),
			len(ids), before, last)
	}
	for i, row := range rows {
		if err := checkRow(row, s.engine.Vocab(), st.Len()-last+i); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
