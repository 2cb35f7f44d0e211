package needle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

const (
	// maxGenerated bounds a generated text, in units.
	maxGenerated = 8_000_000
	// maxSentence is the longest generated prose sentence in units: of any 50 units in a row one
	// whole sentence is part (24 + 25 <= 50), and no sentence comes twice.
	maxSentence = 25
	// maxLine is the same for one line of the agent register, whose lines are longer.
	maxLine = 120
)

// Generated returns prose of about units words, digits and marks (Units) drawn from a grammar: a
// chronicle of invented people and places, of which no model has memorised anything. It is a pure
// function of the seed; a longer text begins with a shorter one. No sentence comes twice, and no 50
// tokens in a row do. It names no city of Names and no number of five digits.
// It fails when units is not from 400 to 8 million.
func Generated(seed uint64, units int) (*Haystack, error) {
	return generate("generated", seed, units, chronicleRules, chronicleLists, maxSentence, " ")
}

// Agent returns text in the register of coding agents: tool schemas, calls and results, JSON
// records, logs, shell lines and paths, one a line, which prompts keep. Five digits in a row occur
// inside hexadecimal strings. The rest is said at Generated.
func Agent(seed uint64, units int) (*Haystack, error) {
	return generate("agent", seed, units, agentRules, agentLists, maxLine, "\n")
}

func generate(kind string, seed uint64, units int, rules map[string][]string, lists map[string]string, longest int,
	sep string,
) (*Haystack, error) {
	if units < minUnits || units > maxGenerated {
		return nil, fmt.Errorf("haystack %q: %d words and marks asked for, want %d to %d", kind, units, minUnits,
			maxGenerated)
	}
	g, err := parseGrammar("line", rules, lists)
	if err != nil {
		return nil, fmt.Errorf("haystack %q: %w", kind, err)
	}
	r := rng("grammar", kind, strconv.FormatUint(seed, 10))
	h := &Haystack{Name: fmt.Sprintf("%s-%d-%d", kind, seed, units), sep: sep}
	sum := sha256.New()
	seen := make(map[string]struct{}, units/16)
	var line []byte
	for total, again := 0, 0; total < units; {
		line = g.say(line[:0], r, g.start)
		n := Units(string(line))
		if _, ok := seen[string(line)]; ok || n > longest {
			if again++; again > 1000 {
				return nil, fmt.Errorf("haystack %q: the grammar says nothing new after %d words and marks", kind, total)
			}
			continue
		}
		again = 0
		s := string(line)
		seen[s] = struct{}{}
		h.Sentences = append(h.Sentences, s)
		h.units = append(h.units, n)
		total += n
		sum.Write(append(line, '\n'))
	}
	h.SHA256 = hex.EncodeToString(sum.Sum(nil))
	h.index()
	return h, nil
}

// Open returns the haystack of a name: opticks, tom-sawyer, generated or agent (these two from the
// seed, with units words and marks), or else the text file of that path.
func Open(name string, seed uint64, units int) (*Haystack, error) {
	switch name {
	case "", "opticks":
		return Opticks()
	case "tom-sawyer":
		return TomSawyer()
	case "generated":
		return Generated(seed, units)
	case "agent":
		return Agent(seed, units)
	}
	return FromFile(name)
}
