package server

import "strings"

// stopper cuts an answer before the first stop string. Text that may yet turn out to be the head of a
// stop string is held back, so that a streamed answer never shows what the whole answer would cut.
type stopper struct {
	stops []string
	held  string
}

// push takes the next token's text and returns what may be shown; done says that a stop string was
// completed, and then nothing further may be shown.
func (s *stopper) push(text string) (show string, done bool) {
	s.held += text
	first := -1
	for _, stop := range s.stops {
		if i := strings.Index(s.held, stop); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first >= 0 {
		show, s.held = s.held[:first], ""
		return show, true
	}
	keep := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(s.held)); n > keep; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				keep = n
				break
			}
		}
	}
	show, s.held = s.held[:len(s.held)-keep], s.held[len(s.held)-keep:]
	return show, false
}

// rest is what was held back when the answer ended without a stop string.
func (s *stopper) rest() string {
	rest := s.held
	s.held = ""
	return rest
}
