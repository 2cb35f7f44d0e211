package scripted

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is a cached block as the textbook keeps it: a list that is searched for the oldest.
type block struct {
	key       uint64
	used      int
	host, bad bool
}

// textbook is the cache's rule without its indices: what is looked up or inserted is new, and where the device is too
// full blocks of the oldest use leave together until it is three quarters full; those of the last insertion stay.
type textbook struct {
	size  int
	host  bool
	clock int
	list  []*block
}

func (c *textbook) find(key uint64) *block {
	for _, b := range c.list {
		if b.key == key {
			return b
		}
	}
	return nil
}

func (c *textbook) onDevice() (n, oldest int) {
	oldest = c.clock
	for _, b := range c.list {
		if !b.host {
			n++
			oldest = min(oldest, b.used)
		}
	}
	return n, oldest
}

func (c *textbook) lookup(chain []uint64) (h hit) {
	c.clock++
	for _, k := range chain {
		b := c.find(k)
		if b == nil {
			break
		}
		h.tokens += blockTokens
		h.bad, h.restored = h.bad || b.bad, h.restored || b.host
		b.host, b.used = false, c.clock
	}
	return h
}

func (c *textbook) insert(chain []uint64, bad bool) {
	c.clock++
	for _, k := range chain {
		b := c.find(k)
		if b == nil {
			b = &block{key: k}
			c.list = append(c.list, b)
		}
		b.host, b.used, b.bad = false, c.clock, b.bad || bad
	}
	if n, _ := c.onDevice(); n*blockTokens <= c.size {
		return
	}
	for {
		n, oldest := c.onDevice()
		if n*blockTokens <= c.size*3/4 || oldest == c.clock {
			return
		}
		var left []*block
		for _, b := range c.list {
			if out := !b.host && b.used == oldest; !out {
				left = append(left, b)
			} else if c.host {
				b.host = true
				left = append(left, b)
			}
		}
		c.list = left
	}
}

// The cache MUST hit, restore and forget as the textbook does, with and without a host tier.
func TestPrefixCacheIsTheTextbooks(t *testing.T) {
	for _, host := range []bool{false, true} {
		r := rand.New(rand.NewPCG(7, 1))
		c, want := newPrefixCache(40*blockTokens, host), &textbook{size: 40 * blockTokens, host: host}
		restored, lost := 0, 0
		for range 3000 {
			chain := make([]uint64, 1+r.IntN(12)) // block i of stem s continues block i-1 of it
			stem := r.Uint64N(30) * 100
			for i := range chain {
				chain[i] = stem + uint64(i)
			}
			bad := r.IntN(20) == 0
			got, exp := c.lookup(chain, 1<<20), want.lookup(chain)
			require.Equal(t, exp, got)
			if got.restored {
				restored++
			}
			if got.tokens == 0 {
				lost++
			}
			c.insert(chain, bad)
			want.insert(chain, bad)
		}
		require.Equal(t, host, restored > 0)
		require.Equal(t, host, lost == 30, "a stem is lost once, when it is new, and again where eviction is for good")
		require.Len(t, want.list, len(c.device)+len(c.host))
	}
}
