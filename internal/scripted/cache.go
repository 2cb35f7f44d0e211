package scripted

import (
	"hash/maphash"
	"maps"
	"slices"
)

// blockTokens is the page of the prefix cache.
const blockTokens = 16

// page is one cached block of a prefix.
type page struct {
	used int64 // clock of the last use
	bad  bool  // restored wrongly from the host tier
}

// prefixCache keeps blocks of 16 tokens under the hash of everything before and in them, LRU by the device's size in
// tokens; with a host tier evicted blocks go there instead of vanishing. The caller locks.
type prefixCache struct {
	seed     maphash.Seed
	size     int // tokens on the device
	hostTier bool
	device   map[uint64]*page
	host     map[uint64]*page
	clock    int64
}

func newPrefixCache(size int, hostTier bool) *prefixCache {
	c := &prefixCache{seed: maphash.MakeSeed(), size: size, hostTier: hostTier}
	c.flush()
	return c
}

// chain is the hashes of the whole blocks of a prompt under a root (salt, adapter, images).
func (c *prefixCache) chain(p *prompt, root string) []uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.WriteString(root)
	out := make([]uint64, 0, p.n()/blockTokens)
	for i := blockTokens; i <= p.n(); i += blockTokens {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(p.slice(i-blockTokens, i))
		out = append(out, h.Sum64())
	}
	return out
}

// hit is what a lookup found.
type hit struct {
	tokens   int  // cached, at most prompt-1
	restored bool // some blocks came from the host tier
	bad      bool // some blocks had been restored wrongly before
}

// lookup finds the longest cached prefix, touches it and brings host blocks back.
func (c *prefixCache) lookup(chain []uint64, n int) hit {
	c.clock++
	var h hit
	for _, k := range chain {
		p, restored := c.touch(k)
		if p == nil {
			break
		}
		h.tokens += blockTokens
		h.bad = h.bad || p.bad
		h.restored = h.restored || restored
	}
	if h.tokens >= n { // the last token is always computed
		h.tokens = n - 1
	}
	return h
}

// touch finds a block on either tier and leaves it on the device; nil when it is on neither.
func (c *prefixCache) touch(k uint64) (p *page, restored bool) {
	p = c.device[k]
	if p == nil {
		if p, restored = c.host[k]; !restored {
			return nil, false
		}
		delete(c.host, k)
		c.device[k] = p
	}
	p.used = c.clock
	return p, restored
}

// insert puts a prompt's blocks on the device and evicts the least recently used.
func (c *prefixCache) insert(chain []uint64, bad bool) {
	c.clock++
	for _, k := range chain {
		p, _ := c.touch(k)
		if p == nil {
			p = &page{used: c.clock}
			c.device[k] = p
		}
		p.bad = p.bad || bad
	}
	if len(c.device)*blockTokens > c.size {
		c.evict()
	}
}

// evict frees a quarter of the device, the oldest first and what is of one age together; what was just inserted stays.
func (c *prefixCache) evict() {
	aged := map[int64]int{} // blocks by age
	for _, p := range c.device {
		if p.used < c.clock {
			aged[p.used]++
		}
	}
	oldest := int64(-1) // everything up to this age goes
	left := len(c.device)
	for _, age := range slices.Sorted(maps.Keys(aged)) {
		if left*blockTokens <= c.size*3/4 {
			break
		}
		left -= aged[age]
		oldest = age
	}
	for k, p := range c.device {
		if p.used > oldest {
			continue
		}
		delete(c.device, k)
		if c.hostTier {
			c.host[k] = p
		}
	}
}

func (c *prefixCache) flush() {
	c.device, c.host = map[uint64]*page{}, map[uint64]*page{}
}
