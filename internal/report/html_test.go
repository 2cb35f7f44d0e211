package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pageOf(t *testing.T, r Run) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, WriteHTML(&b, r))
	return b.String()
}

// element is a start tag met while walking a page.
type element struct {
	name string
	attr map[string]string
}

// elements walks the page as a parser would and fails where tags do not nest.
func elements(t *testing.T, html string) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var out []element
	var open []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.StartElement:
			e := element{tok.Name.Local, map[string]string{}}
			for _, a := range tok.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			out = append(out, e)
			open = append(open, tok.Name.Local)
		case xml.EndElement:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], tok.Name.Local, "tags do not nest")
			open = open[:len(open)-1]
		}
	}
	require.Empty(t, open, "elements left open")
	return out
}

// allowed is every element the page may contain. script, img, link, iframe, form and
// the like are absent on purpose.
var allowed = strings.Fields(`html head meta title style body header main footer section a h1 h2 h3 p b small span
	div ul li dl dt dd table caption thead tbody tr th td details summary code pre mark figure figcaption svg g rect ` +
	`path text`)

func TestHTMLSelfContained(t *testing.T) {
	ok := map[string]bool{}
	for _, n := range allowed {
		ok[n] = true
	}
	for name, r := range map[string]Run{
		"healthy": healthyRun(), "failing": failingRun(), "hostile": hostileRun(), "full": fullRun(), "kernels": kernelsRun(),
		"empty": {},
		"1x1":   {Grids: []HeatMap{gridOf(1, 1)}}, "20x30": {Grids: []HeatMap{gridOf(20, 30)}},
	} {
		t.Run(name, func(t *testing.T) {
			html := pageOf(t, r)
			ids := map[string]bool{}
			for _, e := range elements(t, html) {
				ids[e.attr["id"]] = true
			}
			for _, e := range elements(t, html) {
				if !ok[e.name] {
					t.Errorf("unexpected element <%s>", e.name)
				}
				for k, v := range e.attr {
					switch {
					case strings.HasPrefix(k, "on"), k == "src", k == "srcset", k == "action":
						t.Errorf("<%s> has attribute %s=%q", e.name, k, v)
					case k == "href" && (!strings.HasPrefix(v, "#") || !ids[v[1:]]):
						t.Errorf("link to %q, which is not an element of the page", v)
					case k == "style" && strings.Contains(v, "url("):
						t.Errorf("style %q loads something", v)
					}
				}
			}
			if strings.Contains(html, "@import") || strings.Contains(html, "url(") {
				t.Error("the style sheet loads something")
			}
			if !strings.Contains(html, "default-src &#39;none&#39;") && !strings.Contains(html, "default-src 'none'") {
				t.Error("no content security policy")
			}
		})
	}
}

// TestHTMLHostile: what a server answered is shown, not run.
func TestHTMLHostile(t *testing.T) {
	html := pageOf(t, hostileRun())
	for _, bad := range []string{
		"<script", "<img", "\x1b", "\x00", "\r", "\u202e", "\u009b", "</pre></details></svg>", "ZgotmplZ",
	} {
		if strings.Contains(html, bad) {
			t.Errorf("%q stands in the page", bad)
		}
	}
	if !strings.Contains(html, "&lt;script&gt;alert(1)&lt;/script&gt;‹U&#43;001B›[2J") {
		t.Error("the hostile answer is not shown as text with visible control characters")
	}
}

func TestHTMLSaysEverything(t *testing.T) {
	html := pageOf(t, failingRun())
	for _, want := range []string{
		"REGRESSED  far recall: 40 of 40 lost", "recall 11/34  [19.1 %, 49.2 %]", "exit code 1",
		"curl -sS http://127.0.0.1:8088/v1/completions", "artifacts/run/requests/0042.json",
		"<mark>841736</mark>", "cached_tokens", "rivals", "2026-11-29 12:40:11 UTC",
		"prefers-color-scheme: dark", "golden&#39;s median",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, f := range failingRun().Findings {
		if !strings.Contains(html, "<pre tabindex=\"0\">"+f.Answer+"</pre>") {
			t.Errorf("the answer %q of %s is missing", f.Answer, f.Case)
		}
	}
	if got, want := strings.Count(html, `<details class="finding">`), len(failingRun().Findings); got != want {
		t.Errorf("%d findings on the page, want %d", got, want)
	}
	n := 0
	for _, f := range failingRun().Findings {
		n += strings.Count(f.Prompt, "The Rays which differ")
	}
	if got := strings.Count(html, "The Rays which differ"); got != n {
		t.Errorf("%d sentences of prompts on the page, want all %d", got, n)
	}
}

// TestHTMLUnmeasuredCasesListed: what was left out must be visible.
func TestHTMLUnmeasuredCasesListed(t *testing.T) {
	html := pageOf(t, healthyRun())
	for _, want := range []string{"fidelity/cache/flush", "needs ASSAY_DISRUPT=1", "connection reset"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestHeatMapGeometry: every cell is drawn once, inside the picture, over no other.
func TestHeatMapGeometry(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {5, 7}, {20, 30}, {3, 18}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			g, err := newGridView(gridOf(size[0], size[1]), nil)
			require.NoError(t, err)
			if len(g.Boxes) != size[0]*size[1] {
				t.Fatalf("%d boxes, want %d", len(g.Boxes), size[0]*size[1])
			}
			for i, a := range g.Boxes {
				if a.X < 0 || a.Y < 0 || a.X+a.W > g.W || a.Y+a.H > g.H {
					t.Errorf("box %d leaves the picture: %d,%d", i, a.X, a.Y)
				}
				for j, b := range g.Boxes[:i] {
					if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
						t.Errorf("boxes %d and %d overlap", i, j)
					}
				}
			}
			for _, l := range g.Axis {
				if l.X < 0 || l.X > g.W || l.Y < 0 || l.Y > g.H {
					t.Errorf("label %q leaves the picture", l.Text)
				}
			}
		})
	}
}

func TestLongPromptKeepsBothEndsAndNamesTheRequest(t *testing.T) {
	budget := 10
	got, cut := elide("start"+strings.Repeat("x", 100_000)+"end", &budget)
	if !cut || !strings.HasPrefix(got, "start") || !strings.HasSuffix(got, "end") ||
		!strings.Contains(got, "91,816 bytes left out") {
		t.Errorf("cut %v, length %d, %.80q", cut, len(got), got[4090:4200])
	}
}

// TestContrast: text has the WCAG 2.1 contrast ratio of at least 4.5 to 1 on its
// ground in both themes (success criterion 1.4.3; relative luminance as defined there).
func TestContrast(t *testing.T) {
	css, err := templates.ReadFile("template/style.css")
	require.NoError(t, err)
	light, dark, ok := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	require.True(t, ok)
	dark, _, ok = strings.Cut(dark, "* {")
	require.True(t, ok)
	for theme, text := range map[string]string{"light": light, "dark": dark} {
		vars := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(text, -1) {
			vars[m[1]] = m[2]
		}
		for _, pair := range [][2]string{
			{"text", "bg"},
			{"text", "panel"},
			{"soft", "bg"},
			{"soft", "panel"},
			{"link", "bg"},
			{"good", "good-bg"},
			{"bad", "bad-bg"},
			{"unsure", "unsure-bg"},
			{"text", "mark"},
			{"exact-ink", "exact"},
			{"near-ink", "near-fill"},
			{"lost", "lost-fill"},
			{"lost", "panel"},
			{"exact", "bg"},
			{"lost", "bg"},
			{"near", "panel"},
			{"near", "bg"},
			{"exact", "panel"},
			{"partial", "panel"},
			{"partial", "bg"},
			{"partial-ink", "partial-fill"},
			{"soft", "panel"},
		} {
			a, b := luminance(t, vars[pair[0]]), luminance(t, vars[pair[1]])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("%s theme: %s on %s has contrast %.2f", theme, pair[0], pair[1], ratio)
			}
		}
	}
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(hex, 16, 32)
	require.NoError(t, err, "colour %q", hex)
	linear := func(c uint64) float64 {
		s := float64(c&0xff) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(v>>16) + 0.7152*linear(v>>8) + 0.0722*linear(v)
}
