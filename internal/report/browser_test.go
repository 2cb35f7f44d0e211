package report

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browserFlag: a clone without a browser must pass, a gate must not pass without having looked.
var browserFlag = flag.String("browser", "auto", "auto skips the tests in headless Chromium where there is none, "+
	"required fails")

// browserTimeout bounds the whole browser test.
const browserTimeout = 2 * time.Minute

// noBrowser skips, or fails where a browser is required.
func noBrowser(t *testing.T, why string) {
	t.Helper()
	if *browserFlag == "required" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// tab is a headless browser with a server that serves one page at a time.
type tab struct {
	ctx    context.Context
	server *httptest.Server

	mu    sync.Mutex
	html  string
	asked []string // paths other than the page itself
	seen  int      // pages opened
}

// newTab starts the browser; chromium, chromium-browser and google-chrome are looked for.
func newTab(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell",
	} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		noBrowser(t, "no chromium, chromium-browser or google-chrome in PATH: what pages look like in a browser is not "+
			"tested")
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium refuses to start its sandbox as root
	}
	base, stop := context.WithTimeout(t.Context(), browserTimeout)
	t.Cleanup(stop)
	alloc, stopAlloc := chromedp.NewExecAllocator(base, opts...)
	t.Cleanup(stopAlloc)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		noBrowser(t, fmt.Sprintf("%s does not start, so that pages are not tested in it: %v", path, err))
	}
	b := &tab{ctx: ctx}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !strings.HasPrefix(r.URL.Path, "/page") {
			b.asked = append(b.asked, r.URL.Path)
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(b.html)) // a page half sent fails the test below
	}))
	t.Cleanup(b.server.Close)
	return b
}

// open loads a page and returns what the console said about it, errors and warnings only.
func (b *tab) open(t *testing.T, html string) (complaints []string) {
	t.Helper()
	b.mu.Lock()
	b.html = html
	b.seen++
	url := fmt.Sprintf("%s/page%d", b.server.URL, b.seen)
	end := fmt.Sprintf("end of page %d", b.seen)
	b.mu.Unlock()
	messages := chromedp.Console(b.ctx)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url)))
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("console.log(%q)", end)))
	require.NoError(t, err)
	for m, err := range messages { // the order of the console is kept: nothing comes after the end
		require.NoError(t, err)
		if m.Text == end {
			break
		}
		if m.Type != chromedp.ConsoleLog && m.Type != chromedp.ConsoleInfo && m.Type != chromedp.ConsoleDebug {
			complaints = append(complaints, string(m.Type)+": "+m.Text)
		}
	}
	return complaints
}

// look is what look.js measures in the page.
type look struct {
	Width, Scroll int      // of the window and of what can be scrolled to
	Wide          []string // elements that reach beyond the window outside of a scrolling box
	Faint         []string // texts with a contrast below 4.5 to 1 on their ground
	Dark          bool     // whether the ground is dark
	Verdict       float64  // contrast of the verdict's text
	Stuck         []string // scrolling boxes that no key reaches
	Loaded        []string // resources other than the page
	Text          string
}

// set changes window and theme and measures.
func (b *tab) set(t *testing.T, width int64, theme string) look {
	t.Helper()
	_, err := chromedp.Run(b.ctx,
		chromedp.Action[chromedp.Void](func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
			})
			return chromedp.Void{}, err
		}))
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 800)))
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[look](lookJS))
	require.NoError(t, err)
	return got
}

// judge says what is wrong with a page at a width and in a theme.
func (l look) judge(width int, theme string) (faults []string) {
	if l.Width != width {
		faults = append(faults, fmt.Sprintf("the window is %d px wide, not %d", l.Width, width))
	}
	if l.Scroll > l.Width {
		faults = append(faults, fmt.Sprintf("the page scrolls sideways: %d px in a window of %d; too wide: %s", l.Scroll,
			l.Width, strings.Join(l.Wide, ", ")))
	}
	for _, f := range l.Faint {
		faults = append(faults, "contrast "+f)
	}
	if l.Dark != (theme == "dark") {
		faults = append(faults, "the ground does not follow the theme")
	}
	for _, s := range l.Stuck {
		faults = append(faults, "no key reaches the scrolling box "+s)
	}
	for _, r := range l.Loaded {
		faults = append(faults, "the page loads "+r)
	}
	return faults
}

// TestBrowser opens every kind of report in headless Chromium, with everything unfolded, on a phone and on a desk,
// light and dark: nothing on the console, nothing loaded, nothing wider than the window, every text there and readable.
func TestBrowser(t *testing.T) {
	b := newTab(t)
	for _, page := range []struct {
		name string
		run  Run
		want []string
	}{
		{"empty", Run{}, []string{"assay report", "exit code 0"}},
		{
			"healthy", healthyRun(), []string{
				"no fault found", "recall 34/35", "near miss", "cached_tokens", "recall by length",
			},
		},
		{"full", fullRun(), fullTexts()},
		{"hostile", hostileRun(), []string{"<script>alert(1)</script>", "‹U+001B›[2J"}},
		{
			"kernels", kernelsRun(), []string{
				"1 of 600 cases differs", "sparse_attention", "where it differs", "every second tile", "repro.py",
			},
		},
	} {
		t.Run(page.name, func(t *testing.T) {
			for _, c := range b.open(t, pageOf(t, page.run)) {
				t.Errorf("console: %s", c)
			}
			for _, width := range []int{360, 1280} {
				for _, theme := range []string{"light", "dark"} {
					l := b.set(t, int64(width), theme)
					for _, f := range l.judge(width, theme) {
						t.Errorf("%d px, %s: %s", width, theme, f)
					}
					if l.Verdict < 4.5 {
						t.Errorf("%d px, %s: the verdict has contrast %.1f", width, theme, l.Verdict)
					}
					for _, want := range page.want {
						if !strings.Contains(strings.ToLower(l.Text), strings.ToLower(want)) { // a style may set capitals
							t.Errorf("%d px, %s: %q is not to be seen", width, theme, want)
						}
					}
				}
			}
		})
	}
	t.Run("keyboard", func(t *testing.T) { keyboard(t, b) })
	t.Run("planted faults", func(t *testing.T) { plantedFaults(t, b) })
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, path := range b.asked {
		t.Errorf("a page asked the server for %s", path)
	}
}

// fullTexts are texts of every part of the full report, each from its sample.
func fullTexts() []string {
	return []string{
		"REGRESSED", "Diagnosis: sparse-selection", "likely: 48 runs, 5 arms, p 1.2e-07", "next on SGLang (this one)",
		"--enable-return-indexer-topk",
		"no switch tells more", "thoughts eat a third", "replicas: one URL only",
		"mhc-bf16", "cleared", "implicated", "not exercised", "MHC_BF16=0",
		"recall by prompt length", "measured edge: 2,048 ± 16", "a prefill step of 2048", "margins along a long answer",
		"golden",
		"a hit of the cache loses what a miss finds", "1,920 of 2,048 tokens cached", "not proven",
		"clients at once", "9/16", "0/8 (2 unmeasured)", "token accounting", "-23", "not said",
		"Ten lines for an incident channel", "suspects: implicated stock sparse selection",
		"Evidence by probe", "denial 6, invented 2", "did not run: needs ASSAY_DISRUPT=1",
		"Raw exchanges (1)", "data: [DONE]", "POST /v1/chat/completions answered 200", "partial",
	}
}

// keyboard walks the page by keys: the first stop is the link over the head, and Enter unfolds what is folded.
func keyboard(t *testing.T, b *tab) {
	t.Helper()
	require.Empty(t, b.open(t, pageOf(t, fullRun())))
	focus := func() string {
		s, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.activeElement.tagName + ' ' + "+
			"document.activeElement.className"))
		require.NoError(t, err)
		return s
	}
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)))
	assert.Equal(t, "A skip", focus())
	for range 200 { // bounded: the page has fewer stops before its first fold
		if strings.HasPrefix(focus(), "SUMMARY") {
			break
		}
		require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Tab)))
	}
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent(kb.Enter)))
	open, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("document.activeElement.parentElement.open === true"))
	require.NoError(t, err)
	assert.True(t, open, "Enter does not unfold %q", focus())
}

// plantedFaults proves that each look sees what it is for.
func plantedFaults(t *testing.T, b *tab) {
	t.Helper()
	const head = `<!DOCTYPE html><html lang="en"><head><link rel="icon" href="data:,"><meta name="viewport" ` +
		`content="width=device-width, initial-scale=1"><style>:root { color-scheme: light dark }</style></head><body>`
	for _, row := range []struct{ name, body, want string }{
		{"none", `<p>fine</p>`, ""},
		{"too wide", `<div style="width: 900px">wide</div>`, "the page scrolls sideways"},
		{"faint", `<p style="color: #aaaaaa; background: #ffffff">faint</p>`, "contrast"},
		{"faint by opacity", `<div style="background: #ffffff"><p style="color: rgba(0,0,0,.3)">faint</p></div>`, "contrast"},
		{
			"light only", `<style>html, body { background: #ffffff; color: #000000 }</style><p>light</p>`,
			"the ground does not follow the theme",
		},
		{
			"a box without a stop", `<div style="overflow-x: scroll; width: 100px"><div style="width: 900px">far</div></div>`,
			"no key reaches",
		},
		{"loads", `<img alt="" src="/pageimage">`, "the page loads"},
		{"script", `<script>console.error("planted")</script>`, "console"},
		{"throws", `<script>throw new Error("planted")</script>`, "console"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var faults []string
			for _, c := range b.open(t, head+row.body+"</body></html>") {
				faults = append(faults, "console "+c)
			}
			faults = append(faults, b.set(t, 360, "dark").judge(360, "dark")...)
			if row.want == "" {
				assert.Empty(t, faults)
				return
			}
			assert.Contains(t, strings.Join(faults, "\n"), row.want)
		})
	}
}
