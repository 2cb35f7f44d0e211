package scripted_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/scripted"
)

// pairs has one for every slug.
func pairs() map[string]pair {
	dev := say("developer", "The password of the vault is teal-9041.")
	late := []obj{
		say("user", "Hello."), say("assistant", "Hello."), say("system", "The password of the vault is teal-9041."),
	}
	password := say("user", "What is the password of the vault? Answer with only the password.")
	plan := func(field string) obj {
		return chatOf(say("user", "Make a plan."), obj{
			"role":    "assistant",
			"content": "Done.",
			field:     "Step 2 of my plan is to open drawer 7731.",
		}, say("user", "What is step 2 of your plan?"))
	}
	thought := func(text string) obj {
		return chatOf(say("user", "The code for Quito is 55120."), say("assistant", text),
			say("user", "What is the code for Quito? Answer with only the code."))
	}
	deep := func(n int, temperature float64) obj {
		var turns []obj
		for i := range n {
			turns = append(turns, say("user", fmt.Sprintf("The mark of turn %d is %d.", i, 7000+i)), say("assistant", "Noted."))
		}
		return with(with(chatOf(append(turns, say("user", "Write 300 words, then the mark of turn 1."))...), "max_tokens",
			900), "temperature", temperature)
	}
	save := func(i int, stream bool) obj {
		return with(with(user(fmt.Sprintf("Call save with exactly `value \"%d\" {x}` and with `b%d`.", i, i)), "tools",
			saveTool), "stream", stream)
	}
	warm := func(n int) func(testing.TB, *http.Client, scripted.Params) string {
		return func(t testing.TB, c *http.Client, _ scripted.Params) string {
			t.Helper()
			var rs []reply
			for i := range 8 {
				body := user(sized(n, 0.2, "w"+string(rune('a'+i))))
				first := ask(t, c, body)
				again := ask(t, c, body)
				if first.cached != 0 || n > 64 && again.cached == 0 {
					t.Errorf("cached %d, then %d of %d tokens", first.cached, again.cached, n)
				}
				rs = append(rs, first, again)
			}
			return seen(rs...)
		}
	}
	cold := recall(fixed(900), 0.2)
	image := func(url string) obj {
		return chatOf(obj{
			"role": "user",
			"content": []obj{
				{"type": "text", "text": fill(200, "i") + "What does the image show?"},
				{"type": "image_url", "image_url": obj{"url": url}},
			},
		})
	}
	list := func(n int) func(i int) obj {
		return func(i int) obj {
			return with(user(fmt.Sprintf("%s Write a numbered list of %d items.", fill(40, "l"+string(rune('a'+i))), n)),
				"max_tokens", 4000)
		}
	}
	stream := with(user("Copy the following text exactly:\n"+
		strings.Repeat("naïve Ärger über 数据 here and now ", 4)), "max_tokens", 300)
	free := func(i int, temperature any) obj {
		b := with(user(fmt.Sprintf("Tell me a story. %d", i/2)), "temperature", temperature)
		if temperature == nil {
			delete(b, "temperature")
		}
		return b
	}
	return map[string]pair{
		"head-cut":           {on: recall(over("limit", 50), 0), off: recall(over("limit", -50), 0)},
		"middle-cut":         {on: recall(over("limit", 1000), 0.4), off: recall(over("limit", -50), 0.4)},
		"overflow-swallowed": {on: recall(over("limit", 50), 0.5), off: recall(over("limit", -50), 0.5)},
		"window-split": {
			on: func(t testing.TB, c *http.Client, _ scripted.Params) string {
				t.Helper()
				return seen(together(t, c, user(sized(12000, 0.01, "p")), user(sized(12000, 0.01, "q")),
					user(sized(12000, 0.01, "r")))...)
			},
			off: recall(fixed(3000), 0.1),
		},
		"message-dropped": {
			on: sends(chatOf(dev, password), chatOf(append(slices.Clone(late), password)...), save(0, false)),
			off: sends(chatOf(say("system", "The password of the vault is teal-9041."), password),
				user("Hello there. What is 2 + 2?")),
		},
		"reasoning-lost": {on: sends(plan("reasoning_content"), plan("reasoning")), off: sends(thought("Noted."))},
		"open-thought": {
			on:  sends(thought("<think>Let me note that")),
			off: sends(thought("<think>Let me note that</think>Noted.")),
		},
		"bos":               {on: recall(fixed(200), 0.5), off: rawRecall},
		"generation-prompt": {on: many(10, func(i int) obj { return save(i, false) }), off: recall(fixed(200), 0.5)},
		"sparse-selection": {
			on:  recall(func(p scripted.Params) int { return p["topk"]*p["ratio"] + 600 }, 0.1),
			off: recall(func(p scripted.Params) int { return p["topk"]*p["ratio"] - 10 }, 0.1),
		},
		"tail-only":  {on: recall(over("edge", 10), 0.1), off: recall(over("edge", -10), 0.1)},
		"junk-cliff": {on: recall(over("edge", 0), 0.1), off: recall(over("edge", -1), 0.1)},
		"position-encoding": {
			on:  recall(func(p scripted.Params) int { return p["native"] * 2 }, 0.05),
			off: recall(func(p scripted.Params) int { return p["native"] - 10 }, 0.05),
		},
		"chunk-seam": {
			on: func(t testing.TB, c *http.Client, p scripted.Params) string {
				t.Helper()
				n := 2*p["chunk"] + 300
				return seen(ask(t, c, user(sized(n, 0.02, "a"))), ask(t, c, user(sized(n, float64(p["chunk"])/float64(n), "b"))),
					ask(t, c, user(sized(n, 0.7, "c"))))
			},
			off: recall(over("chunk", -10), 0.1),
		},
		"phase": {
			on: func(t testing.TB, c *http.Client, p scripted.Params) string {
				t.Helper()
				var rs []reply
				for i := range p["modulus"] {
					rs = append(rs, ask(t, c, user(sized(800+i, 0.5, "x"))))
				}
				return seen(rs...)
			},
			off: recall(fixed(800), 1),
		},
		"window-on-all-layers": {on: recall(over("window", 400), 0.1), off: recall(over("window", -10), 0.1)},
		"coarse-kv":            {on: recall(fixed(3500), 0.05), off: recall(fixed(250), 0.05)},
		"warm-forgets":         {on: warm(900), off: cold},
		"warm-junk":            {on: warm(900), off: cold},
		"replay": {
			on: func(t testing.TB, c *http.Client, _ scripted.Params) string {
				t.Helper()
				head := facts + fill(500, "h")
				return seen(ask(t, c, user(head+"What is the access code for Oslo? Answer with only the code.")),
					ask(t, c, user(head+"What is the access code for Lima? Answer with only the code.")))
			},
			off: cold,
		},
		"key-collision": {on: sends(image("http://x/red-square.png"), image("http://x/blue-circle.png")), off: cold},
		"tier-restore": {
			on: func(t testing.TB, c *http.Client, p scripted.Params) string {
				t.Helper()
				sentinel := user(sized(900, 0.3, "s"))
				rs := []reply{ask(t, c, sentinel), ask(t, c, sentinel)}
				for i := range p["pool"]/900 + 4 {
					ask(t, c, user(strings.ReplaceAll(sized(900, 0.3, fmt.Sprintf("f%c", 'a'+i)), "48213", "90817")))
				}
				rs = append(rs, ask(t, c, sentinel), ask(t, c, sentinel))
				if rs[3].cached == 0 {
					t.Error("the last sentinel was no hit")
				}
				return seen(rs...)
			},
			off: warm(900),
		},
		"poisoned-prefix": {on: warm(600), off: cold},
		"cross-talk":      {on: crowded(fixed(12), 200, 3), off: cold},
		"load-junk":       {on: crowded(over("active", 0), 200, 1), off: crowded(over("active", -4), 200, 1)},
		"unequal-batch": {
			on: func(t testing.TB, c *http.Client, _ scripted.Params) string {
				t.Helper()
				var rs []reply
				for i := range 40 {
					salt := string(rune('a'+i%26)) + string(rune('a'+i/26))
					rs = append(rs, together(t, c, user(sized(128, 0.5, salt)), user(sized(256, 0.5, salt+"b")))...)
				}
				return seen(rs...)
			},
			off: func(t testing.TB, c *http.Client, _ scripted.Params) string {
				t.Helper()
				var rs []reply
				for i := range 20 {
					salt := string(rune('a' + i))
					rs = append(rs, together(t, c, user(sized(256, 0.5, salt)), user(sized(256, 0.5, salt+"b")))...)
				}
				return seen(rs...)
			},
		},
		"early-finisher": {on: crowded(over("active", 1), 200, 2), off: cold},
		"abort-damage":   {on: abort(true), off: abort(false)},
		"drift": {
			on:  many(250, func(i int) obj { return user(sized(100+i, 0.5, "d")) }),
			off: many(50, func(i int) obj { return user(sized(100+i, 0.5, "d")) }),
		},
		"benign-noise":      {on: crowded(fixed(8), 150, 2), off: cold, quiet: true},
		"late-degeneration": {on: many(16, list(600)), off: many(6, list(60))},
		"speculation": {
			on: func(t testing.TB, c *http.Client, p scripted.Params) string {
				t.Helper()
				var rs []reply
				for range 8 {
					rs = append(rs, ask(t, c, deep(p["turns"], 1)))
				}
				distinct := map[string]bool{}
				for _, r := range rs {
					distinct[r.text] = true
				}
				return fmt.Sprint(len(distinct)) +
					seen(ask(t, c, deep(p["turns"], 0)), ask(t, c, deep(p["turns"]+1, 0)), ask(t, c, deep(p["turns"]+2, 0)))
			},
			off: recall(fixed(400), 0.2),
		},
		"dead-logits":        {on: recall(fixed(100), 0.5)},
		"foreign-script":     {on: many(3, list(150)), off: recall(fixed(200), 0.5)},
		"special-token-leak": {on: many(12, func(i int) obj { return save(i, false) }), off: cold},
		"prompt-not-seen":    {on: recall(over("pool", 10), 0.5), off: recall(over("pool", -10), 0.5)},
		"decode-path": {on: many(4, func(i int) obj {
			return with(user(facts+fmt.Sprintf("%d. Write 300 words, then the access code for Oslo.", i)), "max_tokens", 900)
		}), off: sends(user("Reply with the word ready."), user("What is the capital of France? Answer in one word."))},
		"stream-layer": {on: sends(with(stream, "stream", true)), off: sends(stream)},
		"tool-arguments": {
			on:  many(12, func(i int) obj { return save(i, true) }),
			off: many(6, func(i int) obj { return save(i, false) }),
		},
		"wrong-finish": {
			on:  sends(with(save(0, true), "max_tokens", 8)),
			off: sends(with(save(0, false), "max_tokens", 8), save(1, true)),
		},
		"thinking-budget": {
			on:  recall(fixed(150), 0.5),
			off: sends(with(user(lisbon+asked), "chat_template_kwargs", obj{"enable_thinking": false})),
		},
		"bad-replica": {on: connections, off: nil},
		"hidden-sampling": {
			on: sends(free(0, nil), free(1, nil), free(2, nil),
				with(user(strings.ReplaceAll(lisbon, "48213", "48848")+asked), "temperature", nil)),
			off: sends(free(0, 0), free(0, 1), user(strings.ReplaceAll(lisbon, "48213", "48848")+asked)),
		},
		"wrong-prompt": {on: recall(over("edge", 10), 0.5), off: recall(over("edge", -10), 0.5)},
	}
}
