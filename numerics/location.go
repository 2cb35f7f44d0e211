package numerics

import (
	"fmt"
	"strconv"
)

// periods are the tile, page and chunk lengths that a fault may repeat with.
var periods = [...]int{2, 4, 8, 16, 32, 64, 128, 256}

// locate describes offending flat indices of a row-major tensor: ascending and not empty, or nil.
func locate(bad, shape []int, axes []string) Location {
	if len(bad) == 0 {
		return Location{Index: -1}
	}
	return Location{Index: bad[0], Coord: coord(bad[0], shape), Count: len(bad), Pattern: pattern(bad, shape, axes)}
}

func coord(i int, shape []int) []int {
	c := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		c[a] = i % shape[a]
		i /= shape[a]
	}
	return c
}

// pattern names the simplest region that holds every offending element: the whole tensor, one index of an axis, a run
// of an axis, a period along an axis. "all of" says that the region is filled.
func pattern(bad, shape []int, axes []string) string {
	total := 1
	for _, d := range shape {
		total *= d
	}
	if len(bad) == total {
		return "every element"
	}
	if len(bad) == 1 {
		return "one element"
	}
	for a, d := range shape {
		lo, hi := d, -1
		seen := make([]bool, d)
		for _, i := range bad {
			c := coord(i, shape)[a]
			lo, hi = min(lo, c), max(hi, c)
			seen[c] = true
		}
		name, slab := axisName(axes, a), total/d
		switch {
		case d > 1 && lo == hi:
			return filled(len(bad) == slab) + name + " " + strconv.Itoa(lo)
		case d > 2 && (lo > 0) != (hi < d-1) && len(bad) == slab*(hi-lo+1):
			return fmt.Sprintf("all of %s %d to %d", name, lo, hi)
		}
		if p, r := period(seen); p > 0 {
			return fmt.Sprintf("%s with %s mod %d = %d", name, name, p, r)
		}
	}
	return "scattered"
}

func filled(all bool) string {
	if all {
		return "all of "
	}
	return "part of "
}

// period finds the largest tile length whose one residue explains what is seen; at least three hits, to be more than
// chance.
func period(seen []bool) (p, residue int) {
	for k := len(periods) - 1; k >= 0; k-- {
		q := periods[k]
		r, hits, ok := -1, 0, true
		for i, s := range seen {
			if !s {
				continue
			}
			if r < 0 {
				r = i % q
			}
			ok = ok && i%q == r
			hits++
		}
		if ok && hits >= 3 {
			return q, r
		}
	}
	return 0, 0
}

func axisName(axes []string, a int) string {
	if a < len(axes) && axes[a] != "" {
		return axes[a]
	}
	return "axis" + strconv.Itoa(a)
}
