package wire

import (
	"fmt"
	"slices"
	"strings"
)

// Quirk is one way in which real servers depart from what a client expects. ID is its letter code on the page of
// quirks; Slug switches it on. Variants are its forms, the first is the default.
type Quirk struct {
	ID       string
	Slug     string
	What     string
	Variants []string
}

// Quirks returns the table, in the order of their ids.
func Quirks() []Quirk {
	return []Quirk{
		{"W1", "usage-without-choices", "the last event has an empty list of choices, and the usage", []string{"empty-list"}},
		{
			"W2", "usage-event-odd", "the usage event has no choices field, or repeats the text", []string{
				"no-field", "repeats-text", "repeats-message",
			},
		},
		{
			"W3", "usage-placement", "usage comes with every event, in the choice, or never", []string{
				"every", "in-choice", "never",
			},
		},
		{
			"W4", "reasoning-field", "reasoning comes under one name, the other or both; history takes one", []string{
				"reasoning", "reasoning-content", "both", "history-reasoning", "history-reasoning-content",
			},
		},
		{"W5", "history-needs-reasoning", "an assistant turn with tool calls but no reasoning is a 400", []string{"400"}},
		{
			"W6", "error-in-stream", "an error comes inside a 200 stream, then [DONE]", []string{
				"object", "text", "old-object", "named-event",
			},
		},
		{"W7", "only-done", "an early failure sends [DONE] and nothing else", []string{"done", "role-then-done"}},
		{
			"W8", "no-done", "nothing follows the finish reason, with or without an open connection", []string{"open", "closed"},
		},
		{"W9", "comments", "comment lines keep the connection alive", []string{"many", "long-lines"}},
		{"W10", "late-headers", "nothing, not even headers, until prefill ends", []string{"headers", "first-byte"}},
		{"W11", "first-delta", "the first delta's content is null, empty or absent", []string{"null", "empty", "absent"}},
		{"W12", "split-characters", "characters are split between deltas", []string{"replaced", "raw-bytes", "surrogates"}},
		{
			"W13", "tool-deltas", "tool deltas have index 0 for all, no index, no id or the name again", []string{
				"index-zero", "no-index", "null-id", "name-repeated",
			},
		},
		{
			"W14", "tool-call-cut", "finish_reason is tool_calls although the token cap cut the arguments",
			[]string{"tool-calls", "stop"},
		},
		{
			"W15", "finish-reason", "finish_reason is stop although the thinking budget ran out, null or missing", []string{
				"stop-in-reasoning", "null", "missing",
			},
		},
		{
			"W16", "over-long", "a prompt beyond the window is a 400 of some wording, a 500, cut in silence, or answered with " +
				"nothing", []string{
				"vllm", "sglang", "llama.cpp", "500", "cut", "nothing",
			},
		},
		{"W17", "error-in-200", "an error object with status 200", []string{"object", "text", "code-only", "detail"}},
		{"W18", "limit-counts-max-tokens", "max_tokens counts against the window", []string{"vllm", "sglang"}},
		{
			"W19", "overload", "503, 429 or a 500 while loading, with or without Retry-After, for two requests or for ever",
			[]string{
				"503-twice", "429-twice", "loading-twice", "in-200-twice", "retry-after", "503", "429", "loading",
			},
		},
		{
			"W20", "logprobs", "log-probabilities are left out, null, of the old shape, clipped, not finite, or a 500", []string{
				"ignored", "null", "old-shape", "clipped", "infinity", "500", "400",
			},
		},
		{
			"W21", "defaults", "omitted sampling fields take the checkpoint's, or fields are ignored", []string{
				"checkpoint", "ignored",
			},
		},
		{
			"W22", "assistant-content", "an assistant turn's content may not be null, empty or absent", []string{
				"no-null", "no-empty", "no-absent",
			},
		},
		{
			"W23", "model-name", "a wrong model name is a 404, or ignored, or another name comes back, or it changes", []string{
				"strict", "ignored", "other", "changes",
			},
		},
		{
			"W24", "cached-tokens", "cached_tokens is null, absent, absent at zero, or absent in streams", []string{
				"null", "absent", "absent-at-zero", "absent-in-streams", "no-details",
			},
		},
		{"W25", "null-content", "every other answer, in the order of arrival, has the content null", []string{"alternate"}},
		{
			"W26", "inline-reasoning", "reasoning stand in the content, between tags or before an end tag", []string{
				"tags", "no-start", "no-end",
			},
		},
		{"W27", "coarse-deltas", "one event carries several tokens", []string{"three", "all"}},
		{"W28", "dropped", "the connection ends in the middle, without an error", []string{"middle", "before-headers"}},
		{
			"W29", "o1-fields", "max_tokens or temperature is a 400, log-probabilities are a 403", []string{
				"max-tokens", "temperature", "logprobs", "all",
			},
		},
		{"W30", "rate-limit", "ten requests are a 429 that says when to come again", []string{"seconds", "date"}},
		{"W31", "loading", "every route is a 503 while the model is loading", []string{"minutes", "for-ever"}},
		{
			"W32", "model-listed", "the list has another name than the one that is served", []string{
				"unknown", "alias", "refused",
			},
		},
		{"W33", "unparsed", "a 500 says that what the model wrote does not match the tool format", []string{"peg-native"}},
		{"W34", "gateway", "a proxy gives up after a while, with a 504 or without a word", []string{"504", "closed"}},
	}
}

// switches is the set of quirks in force: slug to variant.
type switches map[string]string

func parseSwitches(list []string) (switches, error) {
	set := switches{}
	for _, s := range list {
		slug, variant, chosen := strings.Cut(s, "=")
		all := Quirks()
		i := slices.IndexFunc(all, func(q Quirk) bool { return q.Slug == slug })
		if i < 0 {
			return nil, fmt.Errorf("wire: there is no quirk %q: see Quirks for the names", slug)
		}
		if !chosen {
			variant = all[i].Variants[0]
		}
		if !slices.Contains(all[i].Variants, variant) {
			return nil, fmt.Errorf("wire: quirk %q has no variant %q: it has %s", slug, variant,
				strings.Join(all[i].Variants, ", "))
		}
		if was, twice := set[slug]; twice && was != variant {
			return nil, fmt.Errorf("wire: quirk %q is switched on as %q and as %q: choose one", slug, was, variant)
		}
		set[slug] = variant
	}
	return set, nil
}

func (s switches) on(slug string) bool { _, ok := s[slug]; return ok }

// is reports whether a quirk is on in one of the variants.
func (s switches) is(slug string, variants ...string) bool {
	v, ok := s[slug]
	return ok && slices.Contains(variants, v)
}
