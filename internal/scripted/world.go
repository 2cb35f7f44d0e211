package scripted

import (
	"slices"
	"strconv"
	"strings"
)

// places is what the model knows of the world: countries, their adjectives and a city each, the city being the one
// that a needle is named after. Capitals are marked.
var places = parsePlaces(`
Portugal Portuguese Lisbon *|Norway Norwegian Oslo *|Kenya Kenyan Nairobi *|Peru Peruvian Lima *|Ecuador ` +
	`Ecuadorian Quito *
Vietnam Vietnamese Hanoi *|Korea Korean Seoul *|Philippines Philippine Manila *|Indonesia Indonesian Jakarta *
India Indian Delhi *|Pakistan Pakistani Karachi|Afghanistan Afghan Kabul *|Iran Iranian Tehran *|Iraq Iraqi Baghdad *
Turkey Turkish Ankara *|Greece Greek Athens *|Bulgaria Bulgarian Sofia *|Romania Romanian Bucharest *
Hungary Hungarian Budapest *|Austria Austrian Vienna *|Czechia Czech Prague *|Poland Polish Warsaw *
Lithuania Lithuanian Vilnius *|Latvia Latvian Riga *|Estonia Estonian Tallinn *|Finland Finnish Helsinki *
Sweden Swedish Stockholm *|Denmark Danish Copenhagen *|Germany German Berlin *|Switzerland Swiss Bern *
France French Paris *|Spain Spanish Madrid *|Ireland Irish Dublin *|Scotland Scottish Edinburgh *|Cuba Cuban Havana *
Colombia Colombian Bogota *|Venezuela Venezuelan Caracas *|Chile Chilean Santiago *|Egypt Egyptian Cairo *
Tunisia Tunisian Tunis *|Algeria Algerian Algiers *|Senegal Senegalese Dakar *|Ghana Ghanaian Accra *
Nigeria Nigerian Lagos|Angola Angolan Luanda *|Zimbabwe Zimbabwean Harare *|Zambia Zambian Lusaka *
Italy Italian Rome *|Japan Japanese Tokyo *|England English London *|Canada Canadian Ottawa *`)

type place struct {
	country, people, city string
	capital               bool
}

func parsePlaces(s string) []place {
	var out []place
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == '\n' }) {
		if f := strings.Fields(line); len(f) >= 3 {
			out = append(out, place{f[0], f[1], f[2], len(f) > 3})
		}
	}
	return out
}

// cityOf maps a country or its people's name to the city of its archive.
func cityOf(name string) (string, bool) {
	i := slices.IndexFunc(places, func(p place) bool { return p.country == name || p.people == name })
	if i < 0 {
		return "", false
	}
	return places[i].city, true
}

// landmarks are buildings and the cities that they stand in: what a question without a shared word needs.
var landmarks = [][2]string{
	{"Eiffel Tower", "Paris"},
	{"Colosseum", "Rome"},
	{"Acropolis", "Athens"},
	{"Brandenburg Gate", "Berlin"},
	{"Red Square", "Moscow"},
	{"Sagrada Familia", "Barcelona"},
	{"Buckingham Palace", "London"},
	{"Golden Gate Bridge", "San Francisco"},
	{"Charles Bridge", "Prague"},
	{"Forbidden City", "Beijing"},
	{"Hagia Sophia", "Istanbul"},
	{"Petronas Towers", "Kuala Lumpur"},
	{"Christ the Redeemer", "Rio de Janeiro"},
	{"Burj Khalifa", "Dubai"},
	{"Rijksmuseum", "Amsterdam"},
	{"Atomium", "Brussels"},
	{"Little Mermaid", "Copenhagen"},
	{"Uffizi", "Florence"},
	{"Rialto", "Venice"},
	{"Empire State Building", "New York"},
}

// landmarkOf is the building of a city.
func landmarkOf(city string) string {
	for _, l := range landmarks {
		if l[1] == city {
			return l[0]
		}
	}
	return ""
}

// longCity is a city of several words that a text begins with.
func longCity(s string) string {
	for _, l := range landmarks {
		if strings.Contains(l[1], " ") && strings.HasPrefix(s, l[1]) {
			return l[1]
		}
	}
	return ""
}

// known is small talk: a question holding all the words has the answer.
var known = []struct{ words, answer string }{
	{"colo sky clear", "Blue."},
	{"colo sky day", "Blue."},
	{"colo is the sky", "Blue."},
	{"colo grass", "Green."},
	{"colo snow", "White."},
	{"opposite hot", "Cold."},
	{"opposite up", "Down."},
	{"opposite black", "White."},
	{"days week", "7"},
	{"hours day", "24"},
	{"minutes hour", "60"},
	{"months year", "12"},
	{"legs spider", "8"},
	{"legs dog", "4"},
	{"legs cat", "4"},
	{"day after monday", "Tuesday."},
	{"day comes after", "Tuesday."},
	{"month after january", "February."},
	{"letter after a", "B"},
	{"first letter alphabet", "A"},
	{"chemical water", "H2O"},
	{"water freeze celsius", "0"},
	{"water boil celsius", "100"},
	{"planet live", "Earth."},
	{"larger sun moon", "The sun."},
	{"sides triangle", "3"},
	{"frozen water", "Ice."},
	{"animal barks", "A dog."},
	{"author hamlet", "Shakespeare."},
}

var spelling = needing([]string{"spell", "letters"}, `\bspell (?:the word )?["']?(\p{L}+)["']? backwards|how many `+
	`letters (?:are|does) (?:there )?(?:in )?(?:the word )?["']?(\p{L}+)["']?`)

// general answers from the world instead of the prompt.
func (o *oracle) general(q, l string, _ int, _ bool) (answer, bool) {
	if strings.Contains(l, "capital of") && !strings.Contains(l, "code") {
		for _, p := range places {
			if p.capital && strings.Contains(q, p.country) {
				return answer{text: p.city + "."}, true
			}
		}
	}
	if m := spelling.in(l, l); m != nil {
		word := []rune(m[1] + m[2])
		if m[2] != "" {
			return answer{text: strconv.Itoa(len(word))}, true
		}
		slices.Reverse(word)
		return answer{text: string(word)}, true
	}
	if !strings.Contains(l, "?") || strings.Contains(l, "code") {
		return answer{}, false
	}
	for _, k := range known {
		if all(l, strings.Fields(k.words)) {
			return answer{text: k.answer}, true
		}
	}
	return answer{}, false
}

func all(l string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l, w) })
}
