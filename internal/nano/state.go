package nano

import "github.com/assay-suite/assay/oracle"

// State is what the model remembers of the tokens it has read. It is owned by one goroutine at a
// time; Clone gives an independent copy, cheaply, because rows are only ever appended.
type State struct {
	length int
	layers []layerState
}

type layerState struct {
	window oracle.Mat // the last Window raw kv rows, rotated
	kv     poolState  // compressed kv rows
	index  poolState  // index keys
}

// poolState is one compressor's memory: emitted rows, the tokens of the unfinished block and, for
// the overlap, the block before it.
type poolState struct {
	rows            oracle.Mat
	pendingA, prevA oracle.Mat
	pendingG, prevG oracle.Mat
}

// NewState is the empty state of a new sequence.
func (m *Model) NewState() *State { return &State{layers: make([]layerState, len(m.layers))} }

// Len is the number of tokens read so far, the position of the next one.
func (s *State) Len() int { return s.length }

// Clone is a copy that can be extended without touching s.
func (s *State) Clone() *State {
	c := s.draft()
	for i := range c.layers {
		l := &c.layers[i]
		l.kv.rows = l.kv.rows.Slice(0, l.kv.rows.Rows)
		l.index.rows = l.index.rows.Slice(0, l.index.rows.Rows)
	}
	return c
}

// draft is a shallow copy that may append into s's spare capacity: either the draft becomes s or it
// is dropped. A failed Extend thereby leaves the state as it was.
func (s *State) draft() *State {
	return &State{length: s.length, layers: append([]layerState(nil), s.layers...)}
}

// resume hands every carried part through carry.
func (s *State) resume(carry func(oracle.Carried, oracle.Mat) oracle.Mat) {
	for i := range s.layers {
		l := &s.layers[i]
		for _, p := range []*poolState{&l.kv, &l.index} {
			rows := oracle.CarriedRows
			if p == &l.index {
				rows = oracle.CarriedIndex
			}
			p.rows = carry(rows, p.rows)
			p.pendingA, p.pendingG = carry(oracle.CarriedRemainder, p.pendingA), carry(oracle.CarriedRemainder, p.pendingG)
			p.prevA, p.prevG = carry(oracle.CarriedOverlap, p.prevA), carry(oracle.CarriedOverlap, p.prevG)
		}
	}
}
