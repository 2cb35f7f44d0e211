package llama

import "github.com/assay-suite/assay/oracle"

// State is the key and value cache of one sequence. One goroutine extends it at a time; Clone gives an independent
// copy, cheaply, because rows are only ever appended.
type State struct {
	length int
	layers []cache
}

// cache holds one layer's keys, rotated, and values: per key head a matrix [tokens, d].
type cache struct{ k, v []oracle.Mat }

// NewState is the empty state of a new sequence.
func (m *Model) NewState() *State {
	s := &State{layers: make([]cache, m.Config.Layers)}
	for i := range s.layers {
		s.layers[i] = cache{make([]oracle.Mat, m.Config.KVHeads), make([]oracle.Mat, m.Config.KVHeads)}
	}
	return s
}

// Len is the number of tokens read so far, the position of the next one.
func (s *State) Len() int { return s.length }

// Clone is a copy that can be extended without touching s.
func (s *State) Clone() *State {
	return s.copied(func(m oracle.Mat) oracle.Mat { return m.Slice(0, m.Rows) })
}

// draft may append into s's spare capacity: either the draft becomes s or it is dropped.
func (s *State) draft() *State { return s.copied(func(m oracle.Mat) oracle.Mat { return m }) }

func (s *State) copied(of func(oracle.Mat) oracle.Mat) *State {
	c := &State{length: s.length, layers: make([]cache, len(s.layers))}
	for i, l := range s.layers {
		for g := range l.k {
			c.layers[i].k = append(c.layers[i].k, of(l.k[g]))
			c.layers[i].v = append(c.layers[i].v, of(l.v[g]))
		}
	}
	return c
}
