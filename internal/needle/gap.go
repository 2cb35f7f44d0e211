package needle

import (
	"fmt"
	"slices"
	"strings"
)

// landmarks are pairs of a building and its city that every model knows and that share no word.
var landmarks = [][2]string{
	{"the Eiffel Tower", "Paris"},
	{"the Colosseum", "Rome"},
	{"the Acropolis", "Athens"},
	{"the Brandenburg Gate", "Berlin"},
	{"Red Square", "Moscow"},
	{"the Sagrada Familia", "Barcelona"},
	{"Buckingham Palace", "London"},
	{"the Golden Gate Bridge", "San Francisco"},
	{"the Charles Bridge", "Prague"},
	{"the Forbidden City", "Beijing"},
	{"the Hagia Sophia", "Istanbul"},
	{"the Petronas Towers", "Kuala Lumpur"},
	{"the statue of Christ the Redeemer", "Rio de Janeiro"},
	{"the Burj Khalifa", "Dubai"},
	{"the Rijksmuseum", "Amsterdam"},
	{"the Atomium", "Brussels"},
	{"the Little Mermaid", "Copenhagen"},
	{"the Uffizi gallery", "Florence"},
	{"the Rialto bridge", "Venice"},
	{"the Empire State Building", "New York"},
}

// GapSentence is the needle of the kind Gap.
func GapSentence(landmark, code string) string {
	return fmt.Sprintf("The old clockmaker beside %s opens his safe with %s.", landmark, code)
}

// GapQuestion is its question: it has no word in common with any GapSentence.
func GapQuestion(city string) string {
	return fmt.Sprintf("Question: what number does somebody in %s need for unlocking their strongbox? Answer using only "+
		"this number.", city)
}

// gap draws a landmark and others rivals, so that being the only number in sight is no help. Pairs
// whose city or building the haystack names are passed over: the filler would bridge the gap.
func gap(d draws, others int) (plant, error) {
	free := landmarks
	named := func(l [2]string) bool {
		return slices.ContainsFunc(words(l[1]), d.has) || !slices.ContainsFunc(words(l[0]), func(w string) bool {
			return w != "the" && w != "of" && !d.has(w)
		})
	}
	if left := slices.DeleteFunc(slices.Clone(free), named); len(left) > others {
		free = left
	}
	if len(free) <= others {
		return plant{}, fmt.Errorf("%d further needles, there are %d landmarks", others, len(free))
	}
	p := plant{truth: Truth{Kind: Gap}}
	for i, k := range d.r.Perm(len(free))[:others+1] {
		landmark, city, code := free[k][0], free[k][1], d.code()
		if code == "" {
			return plant{}, fmt.Errorf("no more codes of the kind %q are to be had", string(Gap))
		}
		if i == 0 {
			p.needles = []string{GapSentence(landmark, code)}
			p.question = GapQuestion(city)
			p.truth.Name, p.truth.Code = strings.TrimPrefix(landmark, "the "), code
			continue
		}
		p.rivals = append(p.rivals, GapSentence(landmark, code))
		p.truth.Others = append(p.truth.Others, code)
	}
	return p, nil
}
