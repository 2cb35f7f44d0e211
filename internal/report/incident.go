package report

import (
	"fmt"
	"strings"
)

// incidentLines and incidentWidth bound the text for an incident channel.
const (
	incidentLines = 10
	incidentWidth = 240
)

// Incident is the run in at most ten lines of plain text, for a chat: what was asked, verdict, recall, edge and wrong
// answers, diagnosis with rivals, evidence, suspects, the switch to flip next, how to see it again. Lines with nothing
// to say are left out; all but commands and paths are cut at 240 characters. It ends in a line break.
func Incident(r Run) string {
	var b strings.Builder
	line := func(label, text string) {
		if text = oneLine(text); text != "" {
			b.WriteString(label + ": " + clip(text, incidentWidth) + "\n")
		}
	}
	whole := func(label, text string) {
		if text = oneLine(text); text != "" {
			b.WriteString(label + ": " + text + "\n")
		}
	}
	head := strings.ToUpper(r.Verdict.Word()) + fmt.Sprintf(" (exit code %d)", r.Verdict.Code)
	if t := oneLine(r.Title); t != "" {
		head += ", " + t
	}
	if !r.Started.IsZero() {
		head += ", " + r.Started.UTC().Format("2006-01-02 15:04 UTC")
	}
	line("assay", head)
	line("verdict", r.Verdict.Text)
	line("server", factLine(r.Identity))
	line("recall", recallAndEdge(r))
	diagnosis, evidence, next := incidentDiagnosis(r)
	if diagnosis == "" {
		line("failing", failing(r))
	}
	line("diagnosis", diagnosis)
	line("evidence", evidence)
	line("suspects", suspectLine(r.Suspects))
	line("next", next)
	whole("again", again(r))
	whole("report", r.Report)
	return b.String()
}

// factLine joins facts: "host 10.0.0.1 · model x".
func factLine(fs []Fact) string {
	var parts []string
	for _, f := range fs {
		if t := strings.TrimSpace(oneLine(f.Label) + " " + oneLine(f.Text)); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, " · ")
}

func recallAndEdge(r Run) string {
	var parts []string
	for _, h := range r.Grids {
		if t := recallText(h.Recall); t != "" {
			parts = append(parts, strings.TrimPrefix(t, "recall "))
			break
		}
	}
	for _, c := range r.Cliffs {
		if c.Edge != nil {
			parts = append(parts, c.Text())
			break
		}
	}
	for _, f := range r.Facts {
		if f.Label == "answers" {
			total, _, _ := strings.Cut(f.Text, "\n")
			parts = append(parts, "answers "+total)
			break
		}
	}
	return strings.Join(parts, " · ")
}

// incidentDiagnosis takes the diagnosis, or the facts of that name where the caller has only words.
func incidentDiagnosis(r Run) (text, evidence, next string) {
	if r.Diagnosis == nil {
		for _, f := range r.Facts {
			if f.Label != "diagnosis" {
				continue
			}
			text = f.Text
			for _, s := range f.Sub {
				switch s.Label {
				case "evidence":
					evidence = s.Text
				case "rivals":
					text += "; rivals: " + s.Text
				case "next":
					next = s.Text
				}
			}
			break
		}
		return text, evidence, next
	}
	text = r.Diagnosis.Text
	if text == "" {
		text = r.Diagnosis.Verdict
	}
	for _, c := range r.Diagnosis.Classes {
		if c.Note {
			continue
		}
		if conf := c.Confidence(); conf != "" {
			text += " (" + conf + ")"
		}
		if len(c.Rivals) > 0 {
			text += "; rivals: " + strings.Join(c.Rivals, ", ")
		}
		evidence = strings.Join(c.Evidence, " · ")
		next = strings.Join(flagLines(c.Next()), " · ")
		if next == "" {
			next = c.Splitter
		}
		break
	}
	return text, evidence, next
}

// failing counts the findings and names the first with its probable cause.
func failing(r Run) string {
	if len(r.Findings) == 0 {
		return ""
	}
	f := r.Findings[0]
	s := thousands(len(r.Findings)) + ", first " + oneLine(f.Case)
	if f.Class != "" {
		s += " (" + oneLine(f.Class) + ")"
	}
	if f.Likely != "" {
		s += ", likely " + oneLine(f.Likely)
	}
	return s
}

// again is the command for the first finding that has one.
func again(r Run) string {
	for _, f := range r.Findings {
		if f.Curl != "" {
			return f.Curl
		}
		if f.Again != "" {
			return f.Again
		}
		if f.Repro != "" {
			return f.Repro
		}
	}
	return ""
}

// clip cuts s, which is one line, at n characters.
func clip(s string, n int) string {
	if width(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
