package probe

import "fmt"

// cliff is a prompt length at which engines are known to break, with what is suspected there first.
type cliff struct {
	tokens int
	slack  int // tokens to either side, beside the width of the measured edge
	what   string
}

// cliffs are edges of public reports (docs/sources.md): a measured edge on one of them is a hint, no proof.
func cliffs(k Known, window int) []cliff {
	out := []cliff{
		{4, 2, "first compressed block (compression ratio)"},
		{128, 8, "local window of 128: the far path is lost or its RoPE base is wrong"},
		{256, 8, "local window of 256, or a page group of 256"},
		{512, 12, "window of 512 on all layers, or top-k 512 without compression"},
		{1024, 32, "switch to another matrix kernel by batch size at 1024, or window 1024"},
		{1450, 150, "switch of the prefill kernel near 1.3 to 1.6 thousand tokens"},
		{2048, 48, "top-k 2048 of sparse attention, top-k 512 x ratio 4, a prefill step of 2048, or half a context of 4096"},
		{
			4096, 96, "top-k 1024 x ratio 4, sliding window 4096, a page group of the index kernel, or a default context of " +
				"4096",
		},
		{8192, 128, "prefill chunk of 8192, or a default context of 8192"},
		{16384, 256, "prefill chunk of 16384"},
		{32768, 512, "native length of 32768: RoPE scaling is not applied"},
		{65536, 512, "second piece of a prefix workspace of 65536"},
		{131072, 1024, "size of a tensor or overflow of an index at 131072, or native length"},
		{262144, 1024, "native length of 262144: RoPE scaling is not applied"},
	}
	add := func(n, slack int, format string, args ...any) {
		if n > 0 {
			out = append(out, cliff{n, slack, fmt.Sprintf(format, args...)})
		}
	}
	if k.TopK > 0 {
		add(k.TopK*max(1, k.Ratio), k.TopK*max(1, k.Ratio)/20+16, "top-k %d x ratio %d as configured: sparse selection",
			k.TopK, max(1, k.Ratio))
	}
	add(k.Window, 16, "local window %d as configured: the far path is lost", k.Window)
	for i := 1; k.Chunk > 0 && i <= 4; i++ {
		add(i*k.Chunk, 64, "seam %d of the prefill chunks of %d as configured", i, k.Chunk)
	}
	add(k.Page, 2, "one page of %d as configured", k.Page)
	add(k.Native, k.Native/50, "native length %d as configured: RoPE scaling is not applied", k.Native)
	add(k.Pool, 64, "KV pool of %d as configured: admission", k.Pool)
	if window > 0 {
		add(window/2+2, 16, "half of the window of %d plus 2: the front is cut without a word", window)
		for _, slots := range []int{2, 4, 8, 16} {
			add(window/slots, 16, "the window of %d split among %d slots", window, slots)
		}
	}
	return out
}

// Cliffs lists the known causes of an edge at so many prompt tokens, measured to width tokens to either side. Chat
// frames add some tokens to what an engine counts: 16 are allowed for. window 0 is unknown.
func Cliffs(edge, width int, k Known, window int) []string {
	var out []string
	for _, c := range cliffs(k, window) {
		if d := edge - c.tokens; d <= c.slack+width+16 && -d <= c.slack+width+16 && edge >= c.tokens/2 {
			out = append(out, fmt.Sprintf("%d: %s", c.tokens, c.what))
		}
	}
	return out
}
