package server

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
)

// prefixKey names a prefix under a salt: a SHA-256 chain over its chunks, so that equal keys mean equal
// tokens and a lookup needs no comparison of the tokens themselves.
type prefixKey [sha256.Size]byte

// prefixKeys gives the keys of the prefixes of length chunk, 2*chunk, ... of ids.
func prefixKeys(salt string, ids []int, chunk int) []prefixKey {
	keys := make([]prefixKey, 0, len(ids)/chunk)
	prev := sha256.Sum256([]byte(salt))
	buf := make([]byte, 0, sha256.Size+8*chunk)
	for end := chunk; end <= len(ids); end += chunk {
		buf = append(buf[:0], prev[:]...)
		for _, id := range ids[end-chunk : end] {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(id))
		}
		prev = sha256.Sum256(buf)
		keys = append(keys, prev)
	}
	return keys
}

// prefixCache keeps engine states of prompt prefixes, least recently used out first. Its size is
// counted in tokens (a state of n tokens counts n), as that is what a state's memory grows with.
type prefixCache struct {
	mu      sync.Mutex
	limit   int // tokens; at most 0 keeps nothing
	tokens  int
	epoch   int    // grows with every flush
	clock   uint64 // grows with every use
	entries map[prefixKey]*cachedState
}

type cachedState struct {
	state State  // never extended, only cloned
	size  int    // tokens
	used  uint64 // clock of the last use
}

func newPrefixCache(limit int) *prefixCache {
	return &prefixCache{limit: limit, entries: map[prefixKey]*cachedState{}}
}

// touch looks an entry up and marks it used; the caller holds the lock.
func (c *prefixCache) touch(key prefixKey) (*cachedState, bool) {
	e, ok := c.entries[key]
	if ok {
		c.clock++
		e.used = c.clock
	}
	return e, ok
}

// longest finds the longest kept prefix among keys (shortest first) and returns a clone of its state,
// or nil; epoch goes back to put.
func (c *prefixCache) longest(keys []prefixKey) (state State, epoch int) {
	c.mu.Lock()
	var found *cachedState
	for _, key := range slices.Backward(keys) {
		if e, ok := c.touch(key); ok {
			found = e
			break
		}
	}
	epoch = c.epoch
	c.mu.Unlock()
	if found == nil {
		return nil, epoch
	}
	return found.state.Clone(), epoch // outside the lock: it may copy memory
}

// has tells whether the prefix is kept, and marks it used.
func (c *prefixCache) has(key prefixKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.touch(key)
	return ok
}

// put keeps state, which the caller must not extend any more. A state begun before the last flush is
// dropped: after a flush nothing computed earlier may be hit.
func (c *prefixCache) put(key prefixKey, state State, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := state.Len()
	if _, ok := c.touch(key); ok || epoch != c.epoch || size > c.limit {
		return
	}
	for c.tokens+size > c.limit {
		c.evict()
	}
	c.clock++
	c.entries[key] = &cachedState{state: state, size: size, used: c.clock}
	c.tokens += size
}

// evict drops the least recently used state. The scan is short: a few thousand entries, once a prompt.
func (c *prefixCache) evict() {
	var oldest prefixKey
	var least *cachedState
	for key, e := range c.entries {
		if least == nil || e.used < least.used {
			oldest, least = key, e
		}
	}
	if least != nil {
		delete(c.entries, oldest)
		c.tokens -= least.size
	}
}

// flush empties the cache and tells how many states went.
func (c *prefixCache) flush() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.entries)
	clear(c.entries)
	c.tokens = 0
	c.epoch++
	return n
}
