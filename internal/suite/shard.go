package suite

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of Count parts that split the cases of a run. The zero value is the whole run.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n" with i from 0 to n-1; an empty string is the whole run. Anything else is an error: a shard
// that silently ran everything, or nothing, would make the union of the shards wrong.
func ParseShard(s string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	i, n, ok := strings.Cut(s, "/")
	index, err := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil || count < 1 || index < 0 || index >= count {
		return Shard{}, fmt.Errorf("shard %q is not i/n with 0 <= i < n, such as 0/4", s)
	}
	return Shard{index, count}, nil
}

// Has reports whether the shard runs a case. Assignment is by a hash of the ID, so that adding a case moves no other.
func (s Shard) Has(caseID string) bool {
	return s.Count <= 1 || Seed(caseID)%uint64(s.Count) == uint64(s.Index)
}
