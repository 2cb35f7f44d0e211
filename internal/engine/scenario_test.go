package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// book is filler of numbered sentences that no two prompts share in order.
func book(seed uint64, sentences int) []string {
	nouns := strings.Fields("lantern harbor copper orchard ladder market garden river kettle window bridge meadow " +
		"forest castle planet " +
		"shadow ribbon saddle marble hammer fabric needle pillow cotton island anchor barrel candle")
	out := make([]string, sentences)
	for i := range out {
		h := mix(seed, uint64(i)+1)
		w := func(k uint64) string { return nouns[(h>>(k*6))%uint64(len(nouns))] }
		out[i] = fmt.Sprintf("The %s near the %s was moved beside a %s, and nobody saw the %s behind the %s.", w(0), w(1),
			w(2), w(3), w(4))
	}
	return out
}

// needle is a prompt of so many sentences with a code told at a depth.
func needle(seed uint64, sentences int, depth float64, name, code, question string) string {
	b := book(seed, sentences)
	at := int(depth * float64(sentences))
	b = append(b[:at:at], append([]string{fmt.Sprintf("The access code for the %s archive is %s.", name, code)},
		b[at:]...)...)
	return fmt.Sprintf("Page%d. ", seed) + strings.Join(b, " ") + " " + question
}

func ask(name string) string {
	return "Question: what is the access code for " + name + "? Answer with only the code."
}

type body map[string]any

func user(text string) body {
	return body{"messages": []body{{"role": "user", "content": text}}, "temperature": 0, "max_tokens": 64}
}

func (b body) with(k string, v any) body {
	c := body{}
	maps.Copy(c, b)
	c[k] = v
	return c
}

func chatOf(rolesAndTexts ...string) body {
	var list []body
	for i := 0; i < len(rolesAndTexts); i += 2 {
		list = append(list, body{"role": rolesAndTexts[i], "content": rolesAndTexts[i+1]})
	}
	return body{"messages": list, "temperature": 0, "max_tokens": 64}
}

func picture(c color.Color) string {
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, c)
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

func look(c color.Color) body {
	return body{"temperature": 0, "max_tokens": 16, "messages": []body{{"role": "user", "content": []body{
		{"type": "text", "text": strings.Join(book(77, 8), " ") + " What does the image show? Answer with its colour " +
			"only."},
		{"type": "image_url", "image_url": body{"url": picture(c)}},
	}}}}
}

var saveTool = []body{{"type": "function", "function": body{
	"name": "save", "description": "Saves a value.",
	"parameters": body{"type": "object", "properties": body{"value": body{"type": "string"}}},
}}}

// step is one named request of the script; several bodies are sent at once.
type step struct {
	name   string
	bodies []body
}

const copyText = "Copy the following text exactly:\nnaïve Ärger 数据 “quoted” – 3,141 € " +
	"in Łódź; смотри 🙂 twice, {\"a\": \"b\\n\"} end 78456"

// script is what every bug must change something of.
func script() []step {
	one := func(name string, b body) step { return step{name, []body{b}} }
	var s []step
	for i := range 9 {
		s = append(s, one("short", user(fmt.Sprintf("Run%d. %s", i, "The access code for the Lisbon archive is 48213. "+
			"What is the access code for the Lisbon archive?"))))
	}
	s = append(s,
		one("copy", user(copyText)), one("copy-stream", user(copyText).with("stream", true)),
		one("story", user("Write a story of two sentences.")),
		one("story-warm", user("Write a story of two sentences.").with("temperature", 1).with("seed", 1)),
		one("story-warm", user("Write a story of two sentences.").with("temperature", 1).with("seed", 2)),
		one("story", user("Reply now. Write a story of two sentences.")),
		one("logprobs", user("What is the capital of France?").with("logprobs", true).with("top_logprobs", 5)),
		one("count", user("Count from 1 to 90, one number a line, and write nothing else.").with("max_tokens", 400)),
		one("developer", chatOf("developer", "The number of the vault is 48137.", "user",
			"What is the number of the vault? Answer with only the number.")),
		one("late-system", chatOf("user", "Hello.", "assistant", "Hi.", "system", "The number of the vault is 48137.",
			"user",
			"What is the number of the vault? Answer with only the number.")),
		one("tool-message", chatOf("user", "Read it.", "assistant", "Reading.", "tool",
			"The reading of sensor Tunis is 19528.", "user",
			"What is the reading of sensor Tunis? Answer with only the number.")),
		one("system", chatOf("system", "The number of the vault is 90017. Keep it.", "user", "Reply with the word ready.")),
		one("after-system", user("What is the number of the vault? Answer with only the number.")),
		one("first-turn", chatOf("user", "The access code for the Oslo archive is 71530.", "assistant", "Noted.", "user",
			ask("Oslo"))),
		one("old-turn", chatOf("user", "The access code for the Oslo archive is 71530.", "assistant", "Noted.", "user",
			"And it rains.",
			"assistant", "Noted.", "user", "And it snows.", "assistant", "Noted.", "user", "Wind.", "assistant", "Noted.",
			"user", ask("Oslo"))),
		one("reasoning-turn", body{"temperature": 0, "max_tokens": 64, "messages": []body{
			{"role": "user", "content": "Make a plan."},
			{"role": "assistant", "content": "Noted.", "reasoning": "Step 2 of my plan is to open drawer 93216."},
			{"role": "user", "content": "Go on."},
			{"role": "assistant", "content": "Noted.", "reasoning_content": "Go on then."},
			{"role": "user", "content": "Wait."},
			{"role": "assistant", "content": "Noted.", "reasoning_content": "I wait."},
			{"role": "user", "content": "What is step 2 of your plan? Answer with only the number."},
		}}),
		one("tool", user("Call save with exactly `{\"a\": \"x\\\"y\", \"b\": [1]} end`.").with("tools",
			saveTool).with("max_tokens", 128)),
		one("tool-stream", user("Call save with exactly `{\"a\": \"x\\\"y\", \"b\": [1]} end`.").with("tools",
			saveTool).with("stream", true).with("max_tokens", 128)),
		one("two-calls", user("Call save twice: with `first 61327` and with `second 64978`.").with("tools",
			saveTool).with("max_tokens", 128)),
		one("picture", look(color.RGBA{R: 220, A: 255})), one("picture-again", look(color.RGBA{B: 220, A: 255})),
	)
	for i, depth := range []float64{0, 0.12, 0.25, 0.37, 0.5, 0.62, 0.75, 0.87, 0.99} {
		n := []int{150, 210, 90}[i%3]
		s = append(s, one("far", user(needle(uint64(i+1), n, depth, "Lisbon", fmt.Sprint(48213+1111*i), ask("Lisbon")))))
	}
	for i := range 24 { // dense codes: seams and boundaries that lose a few tokens
		var b []string
		for k, t := range book(uint64(200+i), 40) {
			b = append(b, t)
			if k%3 == i%3 {
				b = append(b, fmt.Sprintf("The access code for the %s archive is %d.", towns[(k/3)%len(towns)], 31000+137*k))
			}
		}
		s = append(s, one("dense", user(fmt.Sprintf("Leaf%d. ", i)+strings.Join(b, " ")+" "+ask(towns[i%13]))))
	}
	doc := needle(50, 60, 0.3, "Quito", "62518", "")
	for _, q := range []string{
		ask("Quito"), ask("Quito"), "What is the access code for the Quito archive?",
		"Tell what is the access code for the Quito archive?",
	} {
		s = append(s, one("document", user(doc+q)))
	}
	long := needle(51, 150, 0.1, "Delhi", "39471", "")
	for i := range 9 {
		s = append(s, one("long-document", user(long+strings.Repeat("Now. ", i%3)+ask("Delhi"))))
	}
	s = append(s, one("next-turn", chatOf("user", doc+ask("Quito"), "assistant", "62518", "user", ask("Quito"))))
	s = append(s, one("prose", user("Write 60 words about the sea, then the access code for Lima. The access code "+
		"for the Lima archive is 55310. Write 60 words about the sea, then the access code for Lima.").with("max_tokens",
		300)))
	crowd := func(name string, bodies ...body) step { return step{name, bodies} }
	s = append(s,
		crowd("clients", user(needle(61, 40, 0.2, "Lisbon", "11234", ask("Lisbon"))), user(needle(62, 44, 0.5, "Oslo",
			"22345", ask("Oslo"))),
			user("What is 17 + 25?"), user(needle(63, 30, 0.7, "Lima", "33456", ask("Lima"))),
			user("Write a story of two sentences.")),
		crowd("clients-same", user(doc+" Now. "+ask("Quito")), user(doc+" Now. "+ask("Quito")), user(needle(64, 90, 0.1,
			"Quito", "77881", ask("Quito"))),
			user(needle(64, 90, 0.1, "Quito", "77881", "What is the access code for the Quito archive?"))),
	)
	fresh := needle(65, 70, 0.4, "Seoul", "90218", "")
	s = append(s, crowd("clients-fresh", user(fresh+ask("Seoul")), user(fresh+"Now. "+ask("Seoul")), user(needle(66, 50,
		0.3, "Oslo", "22345", ask("Oslo")))))
	for i := range 3 {
		s = append(s, crowd("clients", user(needle(uint64(70+i), 40, 0.2, "Lisbon", "11234", ask("Lisbon"))),
			user("Write a story of two sentences."),
			user(needle(uint64(80+i), 20, 0.5, "Oslo", "22345", ask("Oslo")))))
	}
	return s
}

var towns = []string{
	"Lisbon", "Oslo", "Nairobi", "Lima", "Quito", "Hanoi", "Seoul", "Osaka", "Kyoto", "Manila",
	"Jakarta", "Delhi", "Mumbai",
}

// flood fills a pool and asks again what was known before.
func flood(pool int) []step {
	var s []step
	sentinel := user(needle(90, 120, 0.4, "Kyoto", "83162", ask("Kyoto")))
	s = append(s, step{"sentinel", []body{sentinel}})
	for i := 0; i*4000 < pool+8000; i++ {
		s = append(s, step{"flood", []body{user(needle(uint64(300+i), 180, 0.5, "Lisbon", "48213", ask("Lisbon")))}})
	}
	return append(s, step{"sentinel", []body{sentinel}}, step{"sentinel", []body{sentinel}})
}

var volatile = regexp.MustCompile(`("id":"cmpl-|"created":|"cached_tokens":)\d+`)

// player sends steps to one engine.
type player struct {
	e *Engine
	c *http.Client
}

func newPlayer(e *Engine) player { return player{e, &http.Client{Transport: e.Transport()}} }

// play sends one step and returns what came back, without what differs from run to run.
func (p player) play(tb testing.TB, s step) string {
	tb.Helper()
	if len(s.bodies) > 1 {
		return strings.Join(p.e.together(tb, s.bodies, s.name == "clients"), "\n")
	}
	raw, err := json.Marshal(s.bodies[0])
	if err != nil {
		tb.Fatal(err)
	}
	return volatile.ReplaceAllString(post(tb, p.c, "/v1/chat/completions", string(raw)), "${1}0")
}

// together puts requests on one rank before it takes a step, so that a batch is what the script says.
func (e *Engine) together(tb testing.TB, bodies []body, stagger bool) []string {
	tb.Helper()
	rk := e.ranks[0]
	reqs := make([]*request, len(bodies))
	for i, b := range bodies {
		raw, err := json.Marshal(b)
		if err != nil {
			tb.Fatal(err)
		}
		var f map[string]json.RawMessage
		if err := json.Unmarshal(raw, &f); err != nil {
			tb.Fatal(err)
		}
		c, a := e.readChat(f)
		s, a2 := e.readSampling(f, true)
		if a != nil || a2 != nil {
			tb.Fatal(a, a2)
		}
		req, _, a := e.request(e.m.render(c), s)
		if a != nil {
			tb.Fatal(a.message)
		}
		reqs[i] = req
		rk.submit(req)
		if stagger {
			rk.step()
		}
	}
	for range 20000 {
		done := true
		for _, r := range reqs {
			done = done && r.done
		}
		if done {
			break
		}
		rk.step()
	}
	out := make([]string, len(reqs))
	for i, r := range reqs {
		a := e.m.assemble(nil, false, false)
		d := delta{}
		for _, t := range r.out {
			d = soundStream().join(d, a.push(t))
		}
		d = soundStream().join(d, a.finish())
		out[i] = fmt.Sprintf("%q %q %v %d", d.content, d.reasoning, r.finish, len(r.gen))
	}
	return out
}
