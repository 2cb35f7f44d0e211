package engine

// freshMeasured is what the work of fresh_work_test.go showed of every bug of the third set. Tests hold it.
var freshMeasured = map[string]Measure{
	"adapter-rows-short":       {Hidden: 1, Spoils: []string{"beside", "beside-waiting"}},
	"alternatives-from-one":    {Spoils: []string{"logprobs"}},
	"answer-positions-clipped": {Percent: 3, Least: 3, Most: 3},
	"backup-after-reuse":       {Hidden: 1, Spoils: []string{"evicted"}},
	"blank-deltas-skipped":     {Spoils: []string{"stream-count"}},
	"blank-runs-merged":        {Percent: 3, Least: 3, Most: 3},
	"bonus-of-first-row": {
		Percent: 92, Least: 21, Most: 97,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "tool", "tool-stream", "beside",
			"beside-waiting", "left-stream", "stop", "after-stop",
		},
	},
	"close-tag-inside-event": {Spoils: []string{"stream", "stream-count"}},
	"cut-call-says-done":     {Spoils: []string{"tool-cut"}},
	"deadline-ends-as-stop":  {Percent: 3, Least: 3, Most: 3},
	"dynamic-base-mixed":     {Percent: 13, Least: 8, Most: 18},
	"embedding-shards-swapped": {
		Percent: 100, Least: 100, Most: 100,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "tool", "tool-stream", "beside",
			"beside-waiting", "left-stream", "stop", "after-stop",
		},
	},
	"end-inside-draft": {
		Percent: 84, Least: 55, Most: 84,
		Spoils: []string{
			"stream", "copy-sign", "tool-message", "beside", "beside-waiting", "left-stream", "stop",
		},
	},
	"end-token-printed": {
		Percent: 100, Least: 100, Most: 100,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "beside", "beside-waiting", "left-stream",
			"stop", "after-stop",
		},
	},
	"greedy-keeps-two": {Percent: 0, Least: 0, Most: 8, Spoils: []string{"greedy-again"}},
	"groups-of-blocks-cut": {
		Percent: 13, Least: 5, Most: 13,
		Spoils: []string{
			"beside", "beside-waiting", "left-stream",
		},
	},
	"handoff-entry-stale": {
		Percent: 11, Least: 11, Most: 18,
		Spoils: []string{
			"stream", "stream-count", "logprobs", "beside",
		},
	},
	"index-slot-unchecked": {
		Percent: 21, Least: 13, Most: 26,
		Spoils: []string{
			"tool-message", "tool", "tool-stream", "tool-cut", "beside", "beside-waiting", "left-stream",
		},
	},
	"last-page-not-sent": {
		Percent: 100, Least: 76, Most: 100,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "beside", "beside-waiting", "left-stream",
			"stop", "after-stop",
		},
	},
	"last-sign-held":          {Percent: 3, Least: 3, Most: 3, Spoils: []string{"copy-sign"}},
	"late-writer-after-abort": {Spoils: []string{"left-stream"}},
	"length-of-first-row":     {Spoils: []string{"beside", "beside-waiting"}},
	"length-rounded-to-tile":  {Percent: 16, Least: 16, Most: 45},
	"marks-stripped":          {Percent: 3, Least: 3, Most: 3},
	"message-limit-in-bytes":  {Percent: 5, Least: 5, Most: 16},
	"normaliser-of-one-shard": {Spoils: []string{"logprobs"}},
	"null-page-for-a-full-pool": {
		Percent: 39, Least: 39, Most: 39,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "tool", "tool-stream", "tool-cut", "samples",
			"beside", "beside-waiting", "left-stream", "stop", "after-stop", "evicted",
		},
	},
	"numeric-strings-unquoted": {Spoils: []string{"tool"}},
	"penalty-counts-kept": {
		Percent: 5, Least: 0, Most: 8,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool", "tool-stream", "greedy-again", "beside",
			"beside-waiting", "after-stop",
		},
	},
	"positions-rounded-behind-hit": {Percent: 16, Least: 16, Most: 97, Spoils: []string{"tool-stream", "tool-cut"}},
	"preempted-counts-as-computed": {Spoils: []string{"beside", "beside-waiting"}},
	"prefix-read-unscaled":         {Percent: 16, Least: 16, Most: 16, Spoils: []string{"tool-stream", "tool-cut"}},
	"rank-cuts-context":            {Percent: 8, Least: 0, Most: 16, Hidden: 1},
	"rank-of-old-checkpoint": {
		Percent: 29, Least: 0, Most: 71,
		Hidden: 1,
		Spoils: []string{
			"stream", "tool-message", "beside", "beside-waiting", "left-stream",
		},
	},
	"restore-copies-half":      {Hidden: 1, Spoils: []string{"evicted"}},
	"retry-keeps-first-tokens": {Percent: 45, Least: 16, Most: 45},
	"scale-by-place-in-table": {
		Percent: 21, Least: 11, Most: 37,
		Spoils: []string{
			"stream", "beside", "left-stream",
		},
	},
	"scale-of-first-batch": {
		Percent: 34, Least: 34, Most: 34,
		Spoils: []string{
			"stream", "tool-message", "beside", "left-stream", "stop",
		},
	},
	"seed-zero-when-absent": {Spoils: []string{"samples"}},
	"selection-kept-in-slot": {
		Percent: 42, Least: 34, Most: 42,
		Spoils: []string{
			"beside", "beside-waiting", "left-stream",
		},
	},
	"short-chunk-no-tiles": {Percent: 18, Least: 3, Most: 29, Spoils: []string{"beside"}},
	"skipped-thought-filed": {
		Percent: 42, Least: 24, Most: 45,
		Spoils: []string{
			"stream", "samples", "beside", "beside-waiting", "left-stream", "stop",
		},
	},
	"staging-entry-short": {
		Percent: 24, Least: 13, Most: 24,
		Spoils: []string{
			"stream", "tool", "greedy-again", "logprobs", "beside", "beside-waiting", "left-stream",
		},
	},
	"start-of-a-stop-dropped":     {Spoils: []string{"stop"}},
	"stops-pile-up":               {Spoils: []string{"after-stop"}},
	"system-with-first-turn-only": {Percent: 3, Least: 3, Most: 3},
	"template-of-another-family": {
		Percent: 100, Least: 100, Most: 100,
		Spoils: []string{
			"stream", "stream-count", "copy-sign", "tool-message", "tool", "tool-stream", "tool-cut", "samples",
			"logprobs", "beside", "beside-waiting", "left-stream", "stop", "after-stop",
		},
	},
	"tool-results-last":      {Spoils: []string{"tool-message"}},
	"window-of-hit-missing":  {Percent: 8, Least: 8, Most: 8, Spoils: []string{"tool-stream", "tool-cut"}},
	"window-shared-by-slots": {Percent: 21, Least: 8, Most: 21},
}
