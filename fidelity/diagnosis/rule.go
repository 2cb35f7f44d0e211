package diagnosis

import "github.com/assay-suite/assay/fidelity/evidence"

// clause is one question that a rule puts to the evidence.
type clause struct {
	words string // as a statement
	ask   func(r *reading) answer
}

// rule is one row of the decision table: the class holds when its channel's symptom is there and every clause is
// answered with yes, and stays a rival while none is answered with no.
type rule struct {
	class    string
	says     string
	reads    []string // probes beside the channel's
	when     []clause // the first is the class's own mark: a rival beside a class that holds needs it
	splitter string   // the probe or flip that tells it from its nearest rivals
	next     Flag
	// certain: the clauses are counts of tokens or a proof by content; rivals by likeness of recall do not stand beside
	// it.
	certain bool
	// beside are the rivals of a certain rule that its clauses cannot tell from it.
	beside []string
	note   bool
	// proven: its class stood alone on two kinds or more of the two engines, and on none wrongly. Only such a rule can be
	// firm.
	proven bool
	model  string // whose likelihood ranks it; empty: its class's
	// alone: it can stand beside another class of its channel that holds. Else only the first that holds is named.
	alone bool
	// drowns: it covers what is certain as well.
	drowns bool
	// covers are channels whose symptoms this class brings along: nothing is concluded from them beside it.
	covers []string
}

// channel is one way in which answers go wrong, with the rules that compete to explain it, best first.
type channel struct {
	name    string
	says    string // the symptom in words
	reads   []string
	symptom func(r *reading) answer
	// prefer ranks rules that are open by how well they explain the answers; nil ranks by their clauses alone.
	prefer func(r *reading, u rule) float64
	rules  []rule
}

// table is the decision table in the order of decision: what is certain and cheap first.
func table() []channel {
	return []channel{
		sessionsChannel(), alwaysChannel(), shareChannel(), ageChannel(), contentChannel(), templateChannel(),
		streamChannel(), samplingChannel(), farChannel(),
		warmChannel(), forkChannel(), turnsChannel(),
		decodeChannel(), toolsChannel(), longChannel(), ladderChannel(), evictChannel(), abortChannel(), budgetChannel(),
	}
}

// everythingBut is all channels but one, and but the counts of tokens, which need no sound answer.
func everythingBut(name string) []string {
	var out []string
	for _, c := range []string{
		"sessions", "always", "stream", "sampling", "far", "warm", "fork", "turns", "decode", "tools", "long", "ladder",
		"evict", "aborts", "age", "budget", "content", "share",
	} {
		if c != name {
			out = append(out, c)
		}
	}
	return out
}

// parts are pieces of channels that a class can cover as well.
var parts = []string{"message", "ladder-shared"}

// Classes lists the classes of the table in its order.
func Classes() []string {
	var out []string
	for _, c := range table() {
		for _, r := range c.rules {
			out = append(out, r.class)
		}
	}
	return out
}

func simple(words string, ask func(r *reading) answer) clause { return clause{words, ask} }

func atLeast(x float64) func(float64) bool { return func(v float64) bool { return v >= x } }

func below(x float64) func(float64) bool { return func(v float64) bool { return v < x } }

// prefixed keeps arms whose name begins so.
func prefixed(prefix string) func(evidence.Arm) bool {
	return func(a evidence.Arm) bool { return len(a.Name) >= len(prefix) && a.Name[:len(prefix)] == prefix }
}
