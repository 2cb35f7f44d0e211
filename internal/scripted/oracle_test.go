package scripted_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

// The oracle must answer every prompt that the needle package builds, by that package's own reading of answers.
func TestHealthyFindsNeedles(t *testing.T) {
	h, err := needle.Opticks()
	require.NoError(t, err)
	c := client(engine(t, scripted.Options{}))
	b := needle.Builder{
		Haystack: h,
		Count:    func(_ context.Context, s string) (int, error) { return scripted.Tokens(s), nil },
	}
	for _, form := range []needle.Form{needle.FormOnly, needle.FormPlain} {
		for _, n := range []int{128, 1024, 6000} {
			for _, s := range append(needle.WindowTest(needle.Spec{Case: "w", Form: form}, 128, n, 96),
				needle.Spec{Case: "d", Length: n, Depth: 0.5, Form: form, Others: min(4, n/256)}) {
				s.Seed = uint64(n)
				if s.Placement == needle.Spread && n < 400 {
					continue
				}
				p, err := b.Build(t.Context(), s)
				require.NoError(t, err)
				r := ask(t, c, user(p.Text))
				if got := needle.Classify(needle.Answer{Text: r.text, Finish: r.finish}, p.Truth); got != needle.Exact {
					t.Errorf("%s %s: %s: %q, want %s for %s", s.Case, form, got, r.text, p.Truth.Code, p.Truth.Name)
				}
				if want := p.Tokens + 4; r.prompt != want { // BOS, two headers, the end of the message
					t.Errorf("%s: prompt_tokens %d, want %d", s.Case, r.prompt, want)
				}
			}
		}
	}
}

// Every kind of needle in every haystack, and every wanted length exactly.
func TestHealthyFindsAllKinds(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	for _, name := range []string{"opticks", "tom-sawyer", "generated", "agent"} {
		h, err := needle.Open(name, 1, 20000)
		require.NoError(t, err)
		b := needle.Builder{
			Haystack: h,
			Count:    func(_ context.Context, s string) (int, error) { return scripted.Tokens(s), nil },
		}
		for _, kind := range needle.Kinds() {
			spec := needle.Spec{Case: "k", Kind: kind, Length: 1500}
			if kind != needle.Several && kind != needle.Nth && kind != needle.Distractors {
				spec.Others = 3
			}
			for seed := range 3 * seeds() {
				spec.Seed = seed
				p, err := b.Build(t.Context(), spec)
				require.NoError(t, err)
				r := ask(t, c, with(user(p.Text), "max_tokens", 200))
				if got := needle.Classify(needle.Answer{Text: r.text, Finish: r.finish}, p.Truth); got != needle.Exact {
					t.Errorf("%s %q seed %d: %s: %q, want %s for %s\n...%s", name, kind, seed, got, r.text, p.Truth.Code, p.Truth.Name,
						p.Text[len(p.Text)-200:])
				}
			}
		}
	}
}

const facts = "The access code for the Lisbon archive is 48213. The access code for the Oslo archive is 71955. " +
	"In the evening the harbour was quiet. The path of the log is /srv/data/run-7/app.log. The session id is " +
	"3f2a91c4-77de-4b10-9c55-0a1b2c3d4e5f. " +
	"The colours of Newton are refrangible. The access code for the Lima archive is 30468. "

// Every style of question that probes ask, on a text that holds the answer.
func TestOracleStyles(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	for question, want := range map[string]string{
		"What are the access codes for Lisbon, Oslo and Lima?":    "48213, 71955, 30468",
		"Which archive has the code 71955?":                       "Oslo",
		"How many access codes are given?":                        "3",
		"How many times does the word harbour appear?":            "1",
		"What is the path of the log? Answer with only the path.": "/srv/data/run-7/app.log",
		"What is the session id? " +
			"Answer with only the id.": "3f2a91c4-77de-4b10-9c55-0a1b2c3d4e5f",
		"What is the sum of the access codes for Lisbon and Oslo? Answer with only the number.": "120168",
		"Complete: The access code for the Lima archive is":                                     "30468",
		"Which number opens the store in the Portuguese capital? Answer with only the number.":  "48213",
		"What is the access code for Kyoto?": "I could not find that in " +
			"the text that I was given.",
		"Is Oslo mentioned in the text?":                           "Yes.",
		"What was the first sentence?":                             "The access code for the Lisbon archive is 48213.",
		"Repeat the sentence that starts with \"In the evening\".": "In the evening the harbour was quiet.",
		"17+25, number only.":                                      "42",
		"What is 17 + 25?":                                         "42",
		"Reply with the word ready.":                               "ready",
		"What is two plus two?":                                    "4",
		"Spell cat backwards.":                                     "tac",
		"How many letters are in the word cat?":                    "3",
		"Print the integers 1 through 5.":                          "1\n2\n3\n4\n5",
		"Give me the codes of Lisbon and Lima.":                    "48213, 30468",
		"List every access code in order of appearance.":           "48213, 71955, 30468",
		"Is there an access code for Oslo? If so, give it.":        "The access code for the Oslo archive is 71955.",
		"\nKEY_A = 991\nKEY_B = 882\nWhat is the value of KEY_B? Answer with only the value.": "882",
		"\n{\"token\":\"abc-1234\",\"user\":\"bob\"}\nWhat is the value of \"token\"? " +
			"Answer with only the value.": "abc-1234",
		"\nWorking directory: /home/x/y\n" +
			"Repeat the line that starts with Working directory: verbatim.": "Working directory: /home/x/y",
		"\nMy dog is called Rex-881.\nWhat is my dog called? Only the name.": "Rex-881",
		"What is the capital of France?":                                     "Paris.",
	} {
		if r := ask(t, c, user(facts+question)); r.text != want {
			t.Errorf("%s\n got %q\nwant %q", question, r.text, want)
		}
	}
}

func TestOracleOrdinals(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	text := "The access code for the Riga archive is 10357. Some prose stands here. The access code for the Riga " +
		"archive is 20468. More of it. The access code for the Riga archive is 30579. "
	for question, want := range map[string]string{
		"What is the first access code for Riga? Answer with only the code.": "10357",
		"What is the second access code given for Riga? Only the code.":      "20468",
		"What is the last access code for Riga? Answer with only the code.":  "30579",
		"What is the 3rd access code for Riga? Answer with only the code.":   "30579",
		"What is the access code for Riga? Answer with only the code.":       "30579",
	} {
		if r := ask(t, c, user(text+question)); r.text != want {
			t.Errorf("%s\n got %q\nwant %q", question, r.text, want)
		}
	}
}

func TestOracleLongAndCopy(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	text := "Amber wolves läuft 3 times; “quoted”, naïve – and 数据.\nSecond line here."
	if r := ask(t, c, with(user("Copy the following text exactly:\n"+text), "max_tokens", 200)); r.text != text {
		t.Errorf("copy: %q", r.text)
	}
	if r := ask(t, c, with(user(text+"\nRepeat the text above exactly."), "max_tokens", 200)); r.text != text {
		t.Errorf("copy above: %q", r.text)
	}
	r := ask(t, c, with(user(facts+"Write a numbered list of 50 items."), "max_tokens", 2000))
	if lines := strings.Split(r.text, "\n"); len(lines) != 50 || !strings.HasPrefix(lines[49], "50. ") {
		t.Errorf("list: %q", r.text)
	}
	r = ask(t, c, with(user(facts+"Write 300 words, then the access code for Oslo."), "max_tokens", 2000))
	if n := len(strings.Fields(r.text)); n != 301 || !strings.HasSuffix(r.text, "\n71955") {
		t.Errorf("%d words: %q", n, r.text)
	}
	if r = ask(t, c, with(user("Write 300 words."), "max_tokens", 20)); r.finish != "length" || r.completion != 20 {
		t.Errorf("cap: %+v", r)
	}
}

func TestOracleTurns(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	turns := []obj{
		{"role": "system", "content": "The password of the vault is teal-9041."},
		{"role": "user", "content": "Remember this: the code for Quito is 55120."},
		{"role": "assistant", "content": "Noted.", "reasoning_content": "Step 2 of my plan is to open drawer 7731."},
		{"role": "user", "content": "Use the tool."},
		{
			"role":       "assistant",
			"content":    nil,
			"tool_calls": []obj{{"id": "a", "type": "function", "function": obj{"name": "get", "arguments": "{}"}}},
		},
		{"role": "tool", "tool_call_id": "a", "content": "The reading of sensor Tunis is 88213."},
	}
	for question, want := range map[string]string{
		"What is the code for Quito? Answer with only the code.":            "55120",
		"What is step 2 of your plan?":                                      "Step 2 of my plan is to open drawer 7731.",
		"What is the reading of sensor Tunis? Answer with only the number.": "88213",
		"What is the password of the vault? Answer with only the password.": "teal-9041",
		"What was my first message?":                                        "Remember this: the code for Quito is 55120.",
		"How many messages have I sent?":                                    "3",
	} {
		body := obj{
			"temperature": 0,
			"max_tokens":  64,
			"messages":    append(append([]obj{}, turns...), obj{"role": "user", "content": question}),
		}
		if r := ask(t, c, body); r.text != want {
			t.Errorf("%s\n got %q\nwant %q", question, r.text, want)
		}
	}
}

var saveTool = []obj{{"type": "function", "function": obj{
	"name": "save", "description": "Saves a value.", "parameters": obj{
		"type":       "object",
		"properties": obj{"value": obj{"type": "string"}},
	},
}}}

func TestOracleTools(t *testing.T) {
	c := client(engine(t, scripted.Options{}))
	for _, stream := range []bool{false, true} {
		body := with(with(user("Call save with exactly `{\"a\": \"x\\\"y\"}` and then with `two`."), "tools", saveTool),
			"stream", stream)
		r := ask(t, c, body)
		want := []string{`save{"value":"{\"a\": \"x\\\"y\"}"}`, `save{"value":"two"}`}
		if strings.Join(r.calls, "|") != strings.Join(want, "|") || r.finish != "tool_calls" {
			t.Errorf("stream %v: %q %s", stream, r.calls, r.finish)
		}
	}
}
