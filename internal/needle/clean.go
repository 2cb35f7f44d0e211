package needle

import (
	"regexp"
	"strings"
	"unicode"
)

// frontMatterEnds is how the first paragraph of the book proper begins. Before it stand the
// transcribers' credit, the title page, the advertisements and the transcriber's note.
const frontMatterEnds = "My Design in this Book is not to explain"

var (
	blankLines   = regexp.MustCompile(`\n[ \t]*\n`)
	footnoteMark = regexp.MustCompile(`\[[A-M]\]`)
	greek        = regexp.MustCompile(`\[Greek: ([^\]]*)\]`)
	figureRef    = regexp.MustCompile(`\[(_?(?:in )?_?(?:Fig|FIG)[^\]]*)\]`)
	// label is the number of an experiment, observation, query or case before its first sentence.
	label = regexp.MustCompile(`^(?:Exper|Obs|Qu|Quest|Cas|Prop|Defin|Ax|Illustration)\.(?: (?:\d+|[IVXLC]+)\b\.?)? `)
)

// cleanOpticks turns the transcription into sentences. Left out: everything before the book proper,
// footnotes, sidenotes, captions of illustrations, tables and diagrams, headings, and the numbers
// of experiments and observations. Underscores (italics) and footnote letters are removed, a Greek
// letter stays as its Latin name, references to figures stand in round brackets.
func cleanOpticks(text string) []string {
	if i := strings.Index(text, frontMatterEnds); i >= 0 {
		text = text[i:]
	}
	var out []string
	for _, p := range blankLines.Split(text, -1) {
		p = strings.TrimSpace(p)
		switch {
		case strings.ContainsAny(p, `|{\`), strings.Contains(p, "--+--"):
			continue // table or diagram
		case strings.HasPrefix(p, "[Illustration"), strings.HasPrefix(p, "[Sidenote"):
			continue
		case len(p) > 3 && p[0] == '[' && p[2] == ']':
			continue // footnote text
		}
		p = greek.ReplaceAllString(p, "$1")
		p = footnoteMark.ReplaceAllString(p, "")
		p = figureRef.ReplaceAllString(p, "($1)")
		p = strings.ReplaceAll(p, "_", "")
		out = append(out, sentences(p)...)
	}
	return out
}

// cleanText does the same for a text that nobody has marked up.
func cleanText(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimPrefix(text, "\ufeff")
	var out []string
	for _, p := range blankLines.Split(text, -1) {
		out = append(out, sentences(p)...)
	}
	return out
}

// sentences splits one paragraph and keeps what is a whole sentence of at least four words.
func sentences(p string) []string {
	p = label.ReplaceAllString(strings.Join(strings.Fields(p), " "), "")
	var out []string
	fields := strings.Split(p, " ")
	from := 0
	for i := range fields {
		last := i == len(fields)-1
		if last || (endsSentence(fields[i]) && startsSentence(fields[i+1])) {
			if s := strings.Join(fields[from:i+1], " "); whole(s) {
				out = append(out, s)
			}
			from = i + 1
		}
	}
	return out
}

// abbreviations end in a dot that ends no sentence. Two sentences taken for one do no harm, half a
// sentence does: so initials, numbers and short forms never end one.
var abbreviations = map[string]bool{
	"fig": true, "figs": true, "exper": true, "obs": true, "prop": true, "theor": true, "prob": true,
	"def": true, "defin": true, "ax": true, "cas": true, "sect": true, "lib": true, "viz": true,
	"mr": true, "mrs": true, "dr": true, "st": true, "pag": true, "qu": true, "lect": true, "optic": true,
	"ibid": true, "etc": true, "vol": true, "no": true, "art": true, "cap": true, "vs": true, "prof": true,
}

func endsSentence(field string) bool {
	f := strings.TrimRight(field, `"')]”’`)
	if f == "" || !strings.ContainsRune(".?!", rune(f[len(f)-1])) {
		return false
	}
	if f[len(f)-1] != '.' {
		return true
	}
	w := strings.TrimLeft(strings.TrimRight(f, "."), `"'([“‘`)
	lower := 0
	for _, r := range w {
		if unicode.IsLower(r) {
			lower++
		}
	}
	return lower >= 2 && !strings.Contains(w, ".") && !abbreviations[strings.ToLower(w)]
}

func startsSentence(field string) bool {
	for _, r := range strings.TrimLeft(field, `"'(“‘`) {
		return unicode.IsUpper(r)
	}
	return false
}

// whole reports whether s reads as a sentence: a capital first, a stop last, four words or more,
// balanced brackets, and not a heading in capitals.
func whole(s string) bool {
	if !startsSentence(s) || strings.ContainsAny(s, "[]|{}<>\\") || strings.Count(s, "(") != strings.Count(s, ")") {
		return false
	}
	t := strings.TrimRight(s, `"')”’`)
	if t == "" || !strings.ContainsRune(".?!", rune(t[len(t)-1])) {
		return false
	}
	lowered := 0
	for w := range strings.FieldsSeq(s) {
		if len(w) > 1 && strings.IndexFunc(w, unicode.IsLower) >= 0 {
			lowered++
		}
	}
	return lowered >= 4
}
