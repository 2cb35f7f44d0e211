package engine

import (
	"regexp"
	"strings"
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// stopWords say nothing about what a question is about.
var stopWords = set(`a an and answer are as at be by can complete could did do does for from give had has have he her
his how i in is it its me my no not of on one only or our please question she so tell that the their them then there
these they this those to told times us using was we were what when where which who whose why will with would you your
somebody need needs using unlocking holds just number`)

func lowerTrim(s string) string { return strings.ToLower(strings.TrimLeft(s, " ")) }

var ordinals = map[string]int{
	"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "eighth": 7, "ninth": 8,
	"tenth": 9, "eleventh": 10, "twelfth": 11,
}

// knownKin is what the model knows to stand in a city.
var knownKin = map[string][]string{
	"Paris": {"Eiffel", "Louvre", "Notre Dame"}, "Rome": {"Colosseum", "Pantheon"}, "Athens": {"Acropolis", "Parthenon"},
	"Berlin": {"Brandenburg", "Reichstag"}, "Moscow": {"Red Square", "Kremlin"},
	"Barcelona": {"Sagrada Familia"}, "London": {"Buckingham", "Big Ben", "Tower Bridge"},
	"Francisco": {"Golden Gate"}, "Prague": {"Charles Bridge"}, "Beijing": {"Forbidden City"},
	"Istanbul": {"Hagia Sophia"}, "Lumpur": {"Petronas"}, "Janeiro": {"Christ the Redeemer"},
	"Dubai": {"Burj Khalifa"}, "Amsterdam": {"Rijksmuseum"}, "Brussels": {"Atomium"},
	"Copenhagen": {"Little Mermaid"}, "Florence": {"Uffizi"}, "Venice": {"Rialto"},
	"York": {"Empire State", "Statue of Liberty"}, "Sydney": {"Opera House"}, "Cairo": {"Sphinx"}, "Agra": {"Taj Mahal"},
	"Pisa": {"Leaning Tower"}, "Seville": {"Giralda"}, "Vienna": {"Schönbrunn"}, "Tokyo": {"Skytree"},
}

// kinOf returns what the cities among the words of ids are known for, for the queries of a sparse selection.
func kinOf(l *lexicon, ids []int32) []string {
	var b strings.Builder
	for _, id := range ids {
		if id < l.base {
			b.WriteString(l.text[id])
		}
	}
	var out []string
	for _, w := range reWord.FindAllString(b.String(), -1) {
		out = append(out, knownKin[w]...)
	}
	return out
}

// fact is something that every model knows.
type fact struct{ lead, value string }

var capitals = map[string]string{
	"France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid", "Portugal": "Lisbon",
	"Austria": "Vienna",
	"Japan":   "Tokyo", "China": "Beijing", "Russia": "Moscow", "Poland": "Warsaw", "Greece": "Athens", "Egypt": "Cairo",
	"Norway": "Oslo", "Sweden": "Stockholm", "Finland": "Helsinki", "Denmark": "Copenhagen", "Ireland": "Dublin",
	"England": "London", "Canada": "Ottawa", "Brazil": "Brasilia", "Peru": "Lima", "Kenya": "Nairobi",
	"India":   "New Delhi",
	"Hungary": "Budapest", "Turkey": "Ankara", "Belgium": "Brussels", "Cuba": "Havana", "Chile": "Santiago",
}

var opposites = map[string]string{
	"hot": "cold", "cold": "hot", "big": "small", "small": "big", "up": "down", "down": "up", "left": "right",
	"day":   "night",
	"night": "day", "black": "white", "white": "black", "good": "bad", "bad": "good", "fast": "slow", "slow": "fast",
	"high": "low", "low": "high", "old": "new", "new": "old", "open": "closed", "wet": "dry", "dry": "wet",
	"full":  "empty",
	"light": "dark", "dark": "light", "happy": "sad", "long": "short", "true": "false", "early": "late",
	"north": "south",
}

var amounts = []struct{ ask, lead, value string }{
	{"days are in a week", "The number of days in a week is", "7"},
	{"months are in a year", "The number of months in a year is", "12"},
	{"hours are in a day", "The number of hours in a day is", "24"},
	{"minutes are in an hour", "The number of minutes in an hour is", "60"},
	{"seconds are in a minute", "The number of seconds in a minute is", "60"},
	{"legs does a spider", "The number of legs of a spider is", "8"},
	{"legs does a dog", "The number of legs of a dog is", "4"},
	{"colour is the sky", "The colour of the sky is", "blue"},
	{"color is the sky", "The color of the sky is", "blue"},
	{"letters are in the english alphabet", "The number of letters is", "26"},
}

var (
	reCapital  = regexp.MustCompile(`capital (?:city )?of (\w+)`)
	reOpposite = regexp.MustCompile(`opposite of "?(\w+)`)
)

// common answers from what every model knows.
func common(q string) (fact, bool) {
	if m := reCapital.FindStringSubmatch(q); m != nil && capitals[m[1]] != "" {
		return fact{"The capital of " + m[1] + " is", capitals[m[1]]}, true
	}
	if m := reOpposite.FindStringSubmatch(q); m != nil && opposites[m[1]] != "" {
		return fact{"The opposite of " + m[1] + " is", opposites[m[1]]}, true
	}
	low := strings.ToLower(q)
	for _, a := range amounts {
		if strings.Contains(low, a.ask) {
			return fact{a.lead, a.value}, true
		}
	}
	return fact{}, false
}

// complete goes on with a sentence that states a known fact.
func complete(text string) (string, bool) {
	i := strings.LastIndexAny(strings.TrimRight(text, ". "), ".\n")
	last := text[i+1:]
	if m := reCapital.FindStringSubmatch(last); m != nil && strings.HasSuffix(strings.TrimSpace(last), "is") {
		v, ok := capitals[m[1]]
		return v, ok
	}
	return "", false
}

var musings = []string{
	"I should check the text once more.", "That seems to be all that is needed.", "Let me think about what is asked.",
	"The answer should follow the wanted format.", "There may be more than one place to look.",
	"I have to be careful with the details here.", "So the question is short and so will be the answer.",
}

var proseFrames = []string{
	"The sea is {mood} and {mood} in the {time}, and the {thing} {move} under a {colour} sky.",
	"Every {time} the {thing} {move} toward the {place} with a {mood} sound.",
	"A {mood} wind comes from the {place} and carries the smell of {stuff}.",
	"Near the {place} an old {person} watched the {thing} and thought of {stuff}.",
	"Some say that the {colour} water hides {stuff} below the {place}.",
	"In the {time} a {person} found a {colour} shell beside the {place}.",
	"The {person} knew that the {thing} {move} only when the {time} is {mood}.",
}

var proseLists = map[string][]string{
	"mood":   {"calm", "deep", "wild", "quiet", "strange", "gentle"},
	"time":   {"morning", "evening", "night", "winter", "summer"},
	"thing":  {"waves", "tides", "boats", "gulls", "clouds"},
	"move":   {"roll", "move", "drift", "turn", "rise"},
	"colour": {"grey", "blue", "green", "silver", "pale"},
	"place":  {"shore", "harbor", "cliff", "horizon", "island"},
	"stuff":  {"salt", "light", "rain", "home", "time"},
	"person": {"sailor", "captain", "woman", "fisher", "child"},
}
