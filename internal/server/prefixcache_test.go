package server

import (
	"context"
	"slices"
	"testing"
)

// lengthState is a state that only has a length.
type lengthState int

func (s lengthState) Len() int     { return int(s) }
func (s lengthState) Clone() State { return s }
func (s lengthState) Extend(context.Context, []int, int) ([][]float64, error) {
	return nil, nil
}

func TestPrefixKeys(t *testing.T) {
	ids := []int{1, 2, 3, 4, 5, 6, 7}
	keys := prefixKeys("", ids, 2)
	if len(keys) != 3 {
		t.Fatalf("%d keys for 7 tokens in chunks of 2, want 3", len(keys))
	}
	if !slices.Equal(keys[:2], prefixKeys("", ids[:5], 2)) {
		t.Error("a prefix has other keys than the whole")
	}
	changed := prefixKeys("", []int{9, 2, 3, 4, 5, 6}, 2)
	salted := prefixKeys("s", ids, 2)
	for i := range keys {
		if keys[i] == changed[i] || keys[i] == salted[i] {
			t.Errorf("key %d does not depend on the first token or on the salt", i)
		}
	}
}

// Work begun before a flush must not be hit after it.
func TestFlushDropsWorkInFlight(t *testing.T) {
	c := newPrefixCache(100)
	keys := prefixKeys("", []int{1, 2}, 1)
	_, before := c.longest(keys)
	c.flush()
	c.put(keys[0], lengthState(1), before)
	if c.has(keys[0]) {
		t.Error("a state begun before the flush was kept")
	}
	_, after := c.longest(keys)
	c.put(keys[0], lengthState(1), after)
	if !c.has(keys[0]) {
		t.Error("a state begun after the flush was not kept")
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c := newPrefixCache(30)
	keys := prefixKeys("", []int{1, 2, 3, 4, 5}, 1)
	for _, k := range keys[:3] {
		c.put(k, lengthState(10), 0)
	}
	c.longest(keys[:1]) // the oldest is used again
	c.put(keys[3], lengthState(10), 0)
	c.put(keys[4], lengthState(31), 0) // larger than the cache: not kept, nothing evicted for it
	var kept []bool
	for _, k := range keys {
		kept = append(kept, c.has(k))
	}
	if want := []bool{true, false, true, true, false}; !slices.Equal(kept, want) || c.tokens != 30 {
		t.Errorf("kept %v of %d tokens, want %v of 30", kept, c.tokens, want)
	}
	c.put(keys[1], lengthState(25), 0)
	if c.tokens != 25 || len(c.entries) != 1 {
		t.Errorf("%d tokens in %d states, want 25 in 1", c.tokens, len(c.entries))
	}
	if n := c.flush(); n != 1 || c.tokens != 0 {
		t.Errorf("flush dropped %d states and left %d tokens", n, c.tokens)
	}
}
