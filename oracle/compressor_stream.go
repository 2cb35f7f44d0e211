package oracle

import "fmt"

// CompressorStream is a compressor that is fed a sequence piece by piece, of any lengths: prefill,
// chunked prefill and decode are all Push. Its state is what an engine must carry: the values and
// biased gates of the unfinished block, with overlap also those of the last complete one, and the
// position.
//
// Source: V4 inference/model.py Compressor, which has prefill from position 0 and single steps only;
// the carry is its decode state after both.
type CompressorStream struct {
	pool         Pooling
	ape          Mat
	position     int
	a, g         Mat // the unfinished block, less than Ratio rows
	prevA, prevG Mat // the last complete block, with overlap
}

// NewCompressorStream starts a sequence at position 0. ape [Ratio, channels] is added to the gates,
// or no rows when they come with their position bias. It fails on a ratio below 1 and an ape of
// another shape.
func NewCompressorStream(p Pooling, ape Mat) (*CompressorStream, error) {
	if p.Ratio < 1 || p.Width < 1 {
		return nil, fmt.Errorf("compressor: ratio %d and width %d must be 1 or more", p.Ratio, p.Width)
	}
	if ape.Rows != 0 && (ape.Rows != p.Ratio || ape.Cols != p.Channels()) {
		return nil, fmt.Errorf("compressor: the position bias is [%d, %d]; ratio %d needs [%d, %d]",
			ape.Rows, ape.Cols, p.Ratio, p.Ratio, p.Channels())
	}
	return &CompressorStream{pool: p, ape: ape}, nil
}

// Push takes the next tokens of the sequence: values a and gates g [n, channels], n from 0. It returns
// the rows of the blocks that they complete, [blocks, Width] before norm and RoPE, and the index of
// the first: block b begins at position b·Ratio and is visible from position (b+1)·Ratio-1 on. The
// arguments are neither kept nor changed. It fails on shapes that do not fit.
func (s *CompressorStream) Push(a, g Mat) (rows Mat, first int, err error) {
	if s.pool.Ratio < 1 {
		return Mat{}, 0, fmt.Errorf("compressor: the stream was not made by NewCompressorStream")
	}
	if a.Rows != g.Rows || a.Rows > 0 && (a.Cols != s.pool.Channels() || g.Cols != a.Cols) {
		return Mat{}, 0, fmt.Errorf("compressor: values are [%d, %d] and gates [%d, %d]; both need %d channels",
			a.Rows, a.Cols, g.Rows, g.Cols, s.pool.Channels())
	}
	first = s.position / s.pool.Ratio
	biased := g.Clone()
	if s.ape.Rows > 0 {
		AddPositionBias(biased, s.ape, s.position)
	}
	// The carry is a Slice, whose capacity ends with it: Append copies, and a clone goes its own way.
	allA, allG := s.a.Append(a), s.g.Append(biased)
	whole := allA.Rows - allA.Rows%s.pool.Ratio
	rows = Compress(allA.Slice(0, whole), allG.Slice(0, whole), s.prevA, s.prevG, s.pool)
	if whole > 0 && s.pool.Overlap {
		s.prevA, s.prevG = allA.Slice(whole-s.pool.Ratio, whole), allG.Slice(whole-s.pool.Ratio, whole)
	}
	s.a, s.g = allA.Slice(whole, allA.Rows), allG.Slice(whole, allG.Rows)
	s.position += a.Rows
	return rows, first, nil
}

// Len is the number of tokens pushed; Len mod Ratio of them wait for their block.
func (s *CompressorStream) Len() int { return s.position }

// Clone is a stream that goes on from here on its own: a prefix that two requests share.
func (s *CompressorStream) Clone() *CompressorStream {
	c := *s
	return &c
}
