package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Severity orders findings by how sure they are; the zero value is the mildest.
type Severity int

// The severities. Certain and likely findings are faults, exit code 1; the others are not.
const (
	Note    Severity = iota // informs
	Look                    // worth a look: unusual, and sound checkpoints may have it
	Likely                  // statistical: far from its peers, or from every sound checkpoint that is known
	Certain                 // contradicts format, config, index, itself or base
)

func (s Severity) String() string {
	switch s {
	case Certain:
		return "certain"
	case Likely:
		return "likely"
	case Look:
		return "worth a look"
	}
	return "note"
}

// Finding is one thing that is wrong.
type Finding struct {
	Severity Severity
	Kind     string   // slug, one of Kinds
	Tensors  []string // stored names, at most maxListed; empty when no tensor is at fault
	Count    int      // tensors concerned, at least len(Tensors)
	Text     string   // a sentence with the value and the fix
}

func (f Finding) String() string {
	return fmt.Sprintf("%s %s: %s", f.Severity, f.Kind, f.Text)
}

// Report is what Examine found.
type Report struct {
	Family string // as config.json calls it (model_type); "v4" and "v3.2" for the DeepSeek families

	Shards   int
	Tensors  int
	Expected int   // tensors that config and storage scheme call for; 0 where nothing is known
	Bytes    int64 // of tensor data scanned
	Seconds  float64
	Formats  []Format    // how weights are stored, and whether that was decoded; most bytes first
	Plan     string      // what the checkpoint declares of its quantisation, as a phrase
	Findings []Finding   // worst first
	Base     []Deviation // against Options.Base, worst first; empty without one
	Skipped  []string    // sentences: what was not examined, and why
}

// Count is the number of findings of a severity.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// GBps is the average over everything that Examine did, in 1e9 bytes a second.
func (r Report) GBps() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) / r.Seconds / 1e9
}

// A finding lists and a report keeps no more than this of one kind: a checkpoint with a lost layer has
// thousands of missing tensors, and the first few say it.
const (
	maxListed  = 16
	maxPerKind = 40
)

// ledger collects findings and folds floods.
type ledger struct {
	findings []Finding
	perKind  map[string]int
	flood    map[string]*Finding
}

// add enters a finding about the named tensors.
func (l *ledger) add(s Severity, kind string, tensors []string, format string, args ...any) {
	if l.perKind == nil {
		l.perKind, l.flood = map[string]int{}, map[string]*Finding{}
	}
	l.perKind[kind]++
	if l.perKind[kind] > maxPerKind {
		f := l.flood[kind]
		if f == nil {
			f = &Finding{Severity: s, Kind: kind}
			l.flood[kind] = f
		}
		f.Severity = max(f.Severity, s)
		f.Count += max(1, len(tensors))
		for _, t := range tensors {
			if len(f.Tensors) < maxListed {
				f.Tensors = append(f.Tensors, t)
			}
		}
		return
	}
	l.findings = append(l.findings, Finding{
		Severity: s, Kind: kind, Text: fmt.Sprintf(format, args...),
		Tensors: slices.Clone(tensors[:min(len(tensors), maxListed)]), Count: len(tensors),
	})
}

// sorted gives the findings worst first; within a severity those that concern most tensors first.
func (l *ledger) sorted() []Finding {
	out := slices.Clone(l.findings)
	for _, f := range l.flood {
		f.Text = fmt.Sprintf("%d more like the %d listed, among them %s", f.Count, maxPerKind,
			strings.Join(f.Tensors[:min(3, len(f.Tensors))], ", "))
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Text, b.Text))
	})
	return out
}

// Progress is where an examination stands.
type Progress struct {
	Stage       string // "headers", "scan", "distribution", "base"
	Done, Total int64  // bytes of tensor data; of headers: shards
	Elapsed     time.Duration

	Shard              string // of a scan: the shard that was read from last
	ShardsDone, Shards int
}

// ETA extrapolates the stage; 0 while nothing is done.
func (p Progress) ETA() time.Duration {
	if p.Done <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Elapsed) * float64(p.Total-p.Done) / float64(p.Done))
}

// String is the line of a progress display.
func (p Progress) String() string {
	line := fmt.Sprintf("%s %d %%", p.Stage, 100*p.Done/max(1, p.Total))
	if p.Shards > 1 {
		line += fmt.Sprintf(", %d of %d shards done, at %s", p.ShardsDone, p.Shards, p.Shard)
	}
	return line + ", " + p.ETA().Round(time.Second).String() + " left"
}
