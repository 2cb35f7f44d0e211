package state

import (
	"fmt"
	"slices"
)

// prefixBlock is one block of a prefix cache: what it holds, who uses it, and all hashes it ever had.
type prefixBlock struct {
	tokens []int
	users  int
	hashes []string
}

// prefixCache maps the hash of a block's tokens to the block, partial blocks included. A hash is the
// tokens spelled out, so that two differ exactly when the tokens do.
type prefixCache struct {
	size   int
	blocks []prefixBlock
	live   map[string]int
	faulty bool
}

func newPrefixCache(blocks, size int, faulty bool) *prefixCache {
	return &prefixCache{size: size, blocks: make([]prefixBlock, blocks), live: map[string]int{}, faulty: faulty}
}

func hashOf(tokens []int) string { return fmt.Sprint(tokens) }

// write stores tokens in a block that nobody uses, drops what it held, and publishes its hash. It
// returns the block, -1 when all are in use.
func (c *prefixCache) write(tokens []int) int {
	at := slices.IndexFunc(c.blocks, func(b prefixBlock) bool { return b.users == 0 })
	if at < 0 || len(tokens) == 0 || len(tokens) > c.size {
		return -1
	}
	for _, h := range c.blocks[at].hashes {
		if c.live[h] == at {
			delete(c.live, h)
		}
	}
	c.blocks[at] = prefixBlock{tokens: slices.Clone(tokens), users: 1}
	c.publish(at)
	return at
}

// publish makes the current hash of a block live, unless another block has it already.
func (c *prefixCache) publish(at int) {
	h := hashOf(c.blocks[at].tokens)
	c.blocks[at].hashes = append(c.blocks[at].hashes, h)
	if _, taken := c.live[h]; !taken {
		c.live[h] = at
	}
}

// grow appends a token to a partial block with one user. The hash that it had is superseded.
func (c *prefixCache) grow(at, token int) {
	b := &c.blocks[at]
	if b.users != 1 || len(b.tokens) >= c.size {
		return
	}
	if old := hashOf(b.tokens); c.live[old] == at {
		delete(c.live, old)
	}
	b.tokens = append(b.tokens, token)
	c.publish(at)
}

// touch marks a block as recently used. The faulty one publishes every hash on its record again.
func (c *prefixCache) touch(at int) {
	if !c.faulty {
		return
	}
	for _, h := range c.blocks[at].hashes {
		if _, taken := c.live[h]; !taken {
			c.live[h] = at
		}
	}
}

// release gives a block back; it stays cached until it is written again.
func (c *prefixCache) release(at int) {
	if c.blocks[at].users > 0 {
		c.blocks[at].users--
		c.touch(at)
	}
}

// lookup finds the block with exactly these tokens and takes a share of it.
func (c *prefixCache) lookup(tokens []int) (at int, hit bool) {
	at, hit = c.live[hashOf(tokens)]
	if hit {
		c.blocks[at].users++
		c.touch(at)
	}
	return at, hit
}

// check holds every live hash against what its block holds.
func (c *prefixCache) check() error {
	for h, at := range c.live {
		if got := hashOf(c.blocks[at].tokens); got != h {
			return violated("hash %s is live for block %d, which holds %s", h, at, got)
		}
	}
	return nil
}

// hits looks tokens up and compares what the block holds with them.
func (c *prefixCache) hits(tokens []int) error {
	if at, hit := c.lookup(tokens); hit && !slices.Equal(c.blocks[at].tokens, tokens) {
		return violated("a lookup of %v hits block %d, which holds %v", tokens, at, c.blocks[at].tokens)
	}
	return nil
}

// prefixSequences runs every sequence of operations up to a length on a cache of two blocks of three
// tokens, from scratch, and checks after each.
func prefixSequences(length int) func(bool) error {
	ops := []func(*prefixCache) error{
		func(c *prefixCache) error { c.write([]int{1}); return nil },
		func(c *prefixCache) error { c.write([]int{1, 2}); return nil },
		func(c *prefixCache) error { c.grow(0, 2); return nil },
		func(c *prefixCache) error { c.grow(0, 3); return nil },
		func(c *prefixCache) error { c.release(0); return nil },
		func(c *prefixCache) error { return c.hits([]int{1}) },
		func(c *prefixCache) error { return c.hits([]int{1, 2}) },
	}
	return func(faulty bool) error {
		sequences := 1
		for range length {
			sequences *= len(ops)
		}
		for s := range sequences {
			c := newPrefixCache(2, 3, faulty)
			for range length {
				if err := ops[s%len(ops)](c); err != nil {
					return err
				}
				if err := c.check(); err != nil {
					return err
				}
				s /= len(ops)
			}
		}
		return nil
	}
}

func prefixModels() []Model {
	return []Model{{
		Row: "G14", Slug: "superseded-hash-live-again", Class: "stale-hash",
		Effect: "a partial block that was filled up publishes the hash of its shorter self again when it is touched",
		Origin: "vllm-project/vllm#49125; what revives the hash is this model's reading",
		Cases: []Case{
			{
				ID:  "promote-release-lookup",
				Why: "the old hash after its block went back to the pool",
				Run: func(faulty bool) error {
					c := newPrefixCache(4, 4, faulty)
					at := c.write([]int{1, 2})
					c.grow(at, 3)
					c.grow(at, 4)
					c.release(at)
					return c.hits([]int{1, 2})
				},
			},
			{
				ID:  "promote-hit-lookup",
				Why: "the old hash after a hit on the new one, the block in use",
				Run: func(faulty bool) error {
					c := newPrefixCache(4, 4, faulty)
					c.grow(c.write([]int{7}), 8)
					if err := c.hits([]int{7, 8}); err != nil {
						return err
					}
					return c.hits([]int{7})
				},
			},
			{
				ID:  "every-sequence-of-5",
				Why: "all sequences of five operations on two blocks, invariant after each",
				Run: prefixSequences(5),
			},
			{
				ID:    "whole-blocks-only",
				Why:   "prompts that fill their blocks never supersede a hash",
				Blind: true,
				Run: func(faulty bool) error {
					c := newPrefixCache(2, 2, faulty)
					for range 3 {
						c.release(c.write([]int{1, 2}))
						if err := c.hits([]int{1, 2}); err != nil {
							return err
						}
						c.release(0)
					}
					return c.check()
				},
			},
		},
	}}
}
