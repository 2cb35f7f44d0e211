package scripted

import (
	"math"
	"strings"
)

// alternative is one token with its natural log-probability.
type alternative struct {
	token   string
	logprob float64
}

// scored is one generated or echoed token with its best alternatives, itself first.
type scored struct {
	alternative
	top []alternative
}

var rivalWords = strings.Fields("the of and to in that it as for with not be this which from by on at are or")

// score gives a token its log-probability. It is a function of the four tokens before it and of itself, so that
// decoding and re-scoring the same text agree: the margin over the best rival is 3 to 8 nats, times sure.
func score(before [4]string, token string, top int, sure float64) scored {
	own := strings.TrimSpace(token)
	h := hash64(before[0], before[1], before[2], before[3], own)
	margin := (3 + 5*unit(h)) * sure
	h = mix(h)
	step := 0.3 + 0.5*unit(h)
	const rivals = 20
	rest := 0.0
	for i := range rivals {
		rest += math.Exp(-margin - float64(i)*step)
	}
	lp := -math.Log1p(rest)
	s := scored{alternative: alternative{token, lp}}
	if top > 0 {
		s.top = append(s.top, s.alternative)
	}
	for i := 0; len(s.top) < top && i < rivals; i++ {
		s.top = append(s.top, alternative{rival(token, own, h, i), lp - margin - float64(len(s.top)-1)*step})
	}
	return s
}

// rival is the i-th other token for a place: digits compete with digits, words with words.
func rival(token, own string, h uint64, i int) string {
	blank := token[:len(token)-len(strings.TrimLeft(token, " \n"))]
	if len(own) == 1 && isDigit(own[0]) {
		if i < 9 {
			return blank + string('0'+(own[0]-'0'+1+byte((h+uint64(i))%9))%10)
		}
		i -= 9
	}
	w := rivalWords[(h+uint64(i))%uint64(len(rivalWords))]
	if w == own {
		w = "one"
	}
	return blank + w
}

// window is the sliding context of score.
type window [4]string

func (w *window) push(token string) {
	copy(w[:], w[1:])
	w[3] = strings.TrimSpace(token)
}

// contextOf is the window at the end of a prompt.
func contextOf(p *prompt) window {
	var w window
	for i := max(0, p.n()-4); i < p.n(); i++ {
		w.push(strings.TrimSuffix(p.slice(i, i+1), gap))
	}
	return w
}
