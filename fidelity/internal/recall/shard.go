package recall

import (
	"regexp"
	"strings"
)

// repeatSegment is the segment of a cell's ID that numbers its needles.
var repeatSegment = regexp.MustCompile(`/r-\d+`)

// ShardUnit names what one shard asks as a whole: a cell with all its repeats, a prompt cold and warm, a burst.
func (c Cell) ShardUnit() string {
	if c.Burst > 0 {
		return c.unit()
	}
	return strings.TrimSuffix(repeatSegment.ReplaceAllString(c.Prompt, ""), "/")
}
