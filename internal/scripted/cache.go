package scripted

import "hash/maphash"

// blockTokens is the page of the prefix cache.
const blockTokens = 16

// page is one cached block of a prefix.
type page struct {
	used int64 // clock of the last use
	host bool  // evicted from the device, kept in host memory
	bad  bool  // restored wrongly from the host tier
}

// prefixCache keeps blocks of 16 tokens under the hash of everything before and in them, LRU by the device's size in
// tokens; with a host tier evicted blocks go there instead of vanishing. The caller locks.
type prefixCache struct {
	seed     maphash.Seed
	size     int // tokens on the device
	hostTier bool
	pages    map[uint64]*page
	device   int // blocks on the device
	clock    int64
}

func newPrefixCache(size int, hostTier bool) *prefixCache {
	return &prefixCache{seed: maphash.MakeSeed(), size: size, hostTier: hostTier, pages: map[uint64]*page{}}
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
		p, ok := c.pages[k]
		if !ok {
			break
		}
		h.tokens += blockTokens
		h.bad = h.bad || p.bad
		if p.host {
			h.restored = true
			p.host = false
			c.device++
		}
		p.used = c.clock
	}
	if h.tokens >= n { // the last token is always computed
		h.tokens = n - 1
	}
	return h
}

// insert puts a prompt's blocks on the device and evicts the least recently used.
func (c *prefixCache) insert(chain []uint64, bad bool) {
	c.clock++
	for _, k := range chain {
		p, ok := c.pages[k]
		if !ok {
			p = &page{}
			c.pages[k] = p
			c.device++
		} else if p.host {
			p.host = false
			c.device++
		}
		p.used = c.clock
		p.bad = p.bad || bad
	}
	if c.device*blockTokens > c.size {
		c.evict()
	}
}

// evict frees a quarter of the device by falling age, so that the scan is paid seldom.
func (c *prefixCache) evict() {
	for age := c.clock; c.device*blockTokens > c.size*3/4; {
		oldest := age
		for _, p := range c.pages {
			if !p.host && p.used < oldest {
				oldest = p.used
			}
		}
		if oldest == age {
			return // only what was just inserted is left
		}
		for k, p := range c.pages {
			if p.host || p.used > oldest {
				continue
			}
			c.device--
			if c.hostTier {
				p.host = true
			} else {
				delete(c.pages, k)
			}
		}
	}
}

func (c *prefixCache) flush() {
	c.pages, c.device = map[uint64]*page{}, 0
}
