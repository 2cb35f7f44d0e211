package endpoint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// quirkRow says what the client makes of one quirk. Zero fields are what a healthy server gives.
type quirkRow struct {
	ask   string // "" a chat streamed and whole; stream, whole, text, tools, history, long, long-most, twice
	class Class  // OK where empty
	want  string // text; wire.Text where empty and the class is OK
	notes []string
	check func(t *testing.T, a Answer, err error)
}

// always is for rows whose answers are those of a healthy server but for the check.
func usageUnknown(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Usage != (Usage{}) {
		t.Errorf("usage %+v, want all unknown", a.Usage)
	}
}

func cachedUnknown(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Usage.Cached.Known || !a.Usage.Prompt.Known {
		t.Errorf("usage %+v, want cached unknown and the rest known", a.Usage)
	}
}

func thoughtsFound(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Reasoning != wire.Thoughts {
		t.Errorf("thoughts %q, want %q", a.Reasoning, wire.Thoughts)
	}
}

func message(part string) func(*testing.T, Answer, error) {
	return func(t *testing.T, _ Answer, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

func twoCalls(t *testing.T, a Answer, _ error) {
	t.Helper()
	if len(a.ToolCalls) != 2 {
		t.Errorf("%d tool calls, want 2: %+v", len(a.ToolCalls), a.ToolCalls)
		return
	}
	for i, want := range []string{`{"city":"Zürich"}`, `{"city":"Bern"}`} {
		if c := a.ToolCalls[i]; c.Name != "find" || c.Arguments != want || !c.Valid {
			t.Errorf("tool call %d is %+v, want find with %s", i, c, want)
		}
	}
}

func overflow(prompt, completion, window bool) func(*testing.T, Answer, error) {
	return func(t *testing.T, _ Answer, err error) {
		t.Helper()
		o, ok := OverflowOf(err)
		if !ok || o.Prompt.Known != prompt || o.Completion.Known != completion || o.Window.Known != window {
			t.Errorf("overflow %+v, %v of %v", o, ok, err)
		}
		if window && o.Window.N != 64 || completion && o.Completion.N != 32 {
			t.Errorf("overflow %+v, want a window of 64 and 32 tokens asked for", o)
		}
	}
}

func tries(n, sheds int) func(*testing.T, Answer, error) {
	return func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Exchange.Tries != n || a.Exchange.Sheds != sheds {
			t.Errorf("%d tries of which %d shed, want %d and %d", a.Exchange.Tries, a.Exchange.Sheds, n, sheds)
		}
	}
}

func shape(want Shape) func(*testing.T, Answer, error) {
	return func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Shape != want || (want == ShapeContent || want == ShapeLegacy) != (len(a.Tokens) > 0) {
			t.Errorf("shape %q with %d tokens, want %q", a.Shape, len(a.Tokens), want)
		}
		if want == ShapeLegacy && (a.Tokens[0].Text != "The" || a.Tokens[0].Logprob != -0.125 || len(a.Tokens[0].Top) != 5) {
			t.Errorf("first token %+v", a.Tokens[0])
		}
	}
}

// quirkRows has every variant of every quirk: TestEveryQuirk fails where one is missing.
var quirkRows = map[string]quirkRow{
	"usage-without-choices=empty-list": {},
	"usage-event-odd=no-field":         {},
	"usage-event-odd=repeats-text":     {ask: "stream", notes: []string{NoteTextAfterFinish}},
	"usage-event-odd=repeats-message":  {ask: "stream", notes: []string{NoteTextAfterFinish}},
	"usage-placement=every":            {},
	"usage-placement=in-choice":        {},
	"usage-placement=never":            {check: usageUnknown},

	"thoughts-field=reasoning":                 {check: thoughtsFound},
	"thoughts-field=reasoning-content":         {check: thoughtsFound},
	"thoughts-field=both":                      {check: thoughtsFound},
	"thoughts-field=history-reasoning":         {ask: "history", class: History, check: message("under the other name")},
	"thoughts-field=history-reasoning-content": {ask: "history"},
	"history-needs-thoughts=400":               {ask: "history-bare", class: History, check: message("reasoning_content")},
	"inline-thoughts=tags":                     {check: thoughtsFound, notes: []string{NoteInlineThoughts}},
	"inline-thoughts=no-start":                 {check: thoughtsFound, notes: []string{NoteInlineThoughts}},
	"inline-thoughts=no-end":                   {class: Budget, check: thoughtsFound, notes: []string{NoteInlineThoughts}},
	"finish-reason=stop-in-thoughts":           {class: Budget, notes: []string{NoteFinishAgainst}},
	"finish-reason=null":                       {notes: []string{NoteFinishMissing}},
	"finish-reason=missing":                    {notes: []string{NoteFinishMissing}},

	"error-in-stream=object":      {ask: "stream", class: Failing, check: message("in its stream: EngineCore")},
	"error-in-stream=text":        {ask: "stream", class: Failing, check: message("in its stream: EngineCore")},
	"error-in-stream=old-object":  {ask: "stream", class: Failing, check: message("in its stream: EngineCore")},
	"error-in-stream=named-event": {ask: "stream", class: Failing, check: message("EngineCore")},
	"error-in-200=object":         {class: Failing, check: message("in its body: CUDA error")},
	"error-in-200=text":           {class: Failing, check: message("in its body: CUDA error")},
	"error-in-200=code-only":      {class: Failing, check: message("in its body: CUDA error")},
	"error-in-200=detail":         {class: Failing, check: message("in its body: CUDA error")},
	"only-done=done":              {ask: "stream", class: Failing},
	"only-done=role-then-done":    {ask: "stream", class: Failing},
	"no-done=open":                {ask: "stream-no-usage", notes: []string{NoteDoneMissing}},
	"no-done=closed":              {ask: "stream", notes: []string{NoteDoneMissing}},
	"dropped=middle":              {class: Dropped},
	"dropped=before-headers":      {class: Dropped, check: tries(4, 0)},

	"comments=many":           {ask: "stream", check: commented},
	"comments=long-lines":     {ask: "stream", check: commented},
	"late-headers=headers":    {check: late},
	"late-headers=first-byte": {check: late},
	"coarse-deltas=three":     {},
	"coarse-deltas=all":       {},
	"first-delta=null":        {},
	"first-delta=empty":       {},
	"first-delta=absent":      {},

	"split-characters=replaced":   {ask: "stream", notes: []string{NoteReplaced}},
	"split-characters=raw-bytes":  {},
	"split-characters=surrogates": {},

	"tool-deltas=index-zero":    {ask: "tools", check: twoCalls},
	"tool-deltas=no-index":      {ask: "tools", check: twoCalls},
	"tool-deltas=null-id":       {ask: "tools", check: twoCalls},
	"tool-deltas=name-repeated": {ask: "tools", check: twoCalls},
	"tool-call-cut=tool-calls":  {ask: "tools-cut", class: Cut, notes: []string{NoteFinishAgainst, NoteCutToolCall}},
	"tool-call-cut=stop":        {ask: "tools-cut", class: Cut, notes: []string{NoteCutToolCall}},

	"over-long=vllm":      {ask: "long", class: TooLong, check: overflow(true, true, true)},
	"over-long=sglang":    {ask: "long", class: TooLong, check: overflow(true, false, true)},
	"over-long=llama.cpp": {ask: "long", class: TooLong, check: overflow(true, false, true)},
	"over-long=500":       {ask: "long", class: TooLong, check: overflow(false, false, false)},
	"over-long=cut": {ask: "long", check: func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Usage.Prompt != (Count{32, true}) {
			t.Errorf("the server cut the prompt to 32 tokens and says so, got %+v", a.Usage.Prompt)
		}
	}},
	"over-long=nothing":              {ask: "long", class: Empty},
	"limit-counts-max-tokens=vllm":   {ask: "most", class: TooLong, check: overflow(true, true, true)},
	"limit-counts-max-tokens=sglang": {ask: "most", class: TooLong, check: overflow(true, true, true)},

	"overload=503-twice":     {check: tries(3, 2)},
	"overload=429-twice":     {check: tries(3, 2)},
	"overload=loading-twice": {check: tries(3, 2)},
	"overload=in-200-twice":  {check: tries(3, 2)},
	"overload=retry-after":   {check: tries(3, 2)},
	"overload=503":           {class: Shed, check: tries(4, 4)},
	"overload=429":           {class: Shed, check: tries(4, 4)},
	"overload=loading":       {class: Shed, check: tries(4, 4)},

	"logprobs=ignored":   {check: shape(ShapeAbsent)},
	"logprobs=null":      {check: shape(ShapeNull)},
	"logprobs=old-shape": {check: shape(ShapeLegacy)},
	"logprobs=clipped":   {check: shape(ShapeContent), notes: []string{NoteClipped}},
	"logprobs=infinity":  {check: shape(ShapeContent), notes: []string{NoteNotFinite, NoteClipped}},
	"logprobs=500":       {class: Failing, check: tries(1, 0)},
	"logprobs=400":       {class: Refused, check: tries(1, 0)},

	"defaults=checkpoint":          {want: wire.Looped, check: neutral},
	"defaults=ignored":             {},
	"assistant-content=no-null":    {ask: "turn-null", class: History},
	"assistant-content=no-empty":   {ask: "turn-empty", class: History},
	"assistant-content=no-absent":  {ask: "turn-absent", class: History},
	"model-name=strict":            {ask: "wrong-model", class: Refused, check: message("does not exist")},
	"model-name=ignored":           {ask: "wrong-model", notes: []string{NoteRenamed}},
	"model-name=other":             {notes: []string{NoteRenamed}},
	"model-name=changes":           {ask: "twice", notes: []string{NoteRenamed, NoteModelChanged}},
	"cached-tokens=null":           {check: cachedUnknown},
	"cached-tokens=absent":         {check: cachedUnknown},
	"cached-tokens=absent-at-zero": {check: cachedUnknown},
	"cached-tokens=absent-in-streams": {check: func(t *testing.T, a Answer, _ error) {
		t.Helper()
		if a.Usage.Cached.Known == a.Exchange.Stream {
			t.Errorf("cached %+v, streamed %v", a.Usage.Cached, a.Exchange.Stream)
		}
	}},
	"cached-tokens=no-details": {check: cachedUnknown},
	"null-content=alternate":   {class: NullContent},
}

func commented(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Exchange.Comments < 400 || a.Exchange.Total < 400*pause || len(a.Exchange.Response) > 1<<16 {
		t.Errorf("%d comments in %s, %d bytes kept", a.Exchange.Comments, a.Exchange.Total, len(a.Exchange.Response))
	}
}

func late(t *testing.T, a Answer, _ error) {
	t.Helper()
	if a.Exchange.Wait != pause || a.Exchange.Tries != 1 {
		t.Errorf("first byte after %s at try %d, want %s at the first", a.Exchange.Wait, a.Exchange.Tries, pause)
	}
}

// neutral is checked where it was not asked for: the fields are the caller's choice, because strict servers refuse
// them.
func neutral(t *testing.T, a Answer, _ error) {
	t.Helper()
	if strings.Contains(string(a.Exchange.Request), "top_k") {
		t.Errorf("top_k was sent unasked: %s", a.Exchange.Request)
	}
}

// pause is below the idle limit and far above what a limit on the whole answer would allow for 400 of them.
const pause = time.Minute

// asks are the requests of a row, by name.
func asks(kind string) []ChatRequest {
	user := Message{Role: "user", Content: "What is the code?"}
	base := ChatRequest{Messages: []Message{user}, Sampling: Sampling{MaxTokens: 32, TopLogprobs: 5}}
	turn := Message{
		Role:      "assistant",
		ToolCalls: []ToolCall{{ID: "call_a", Name: "find", Arguments: "{}"}},
		Thoughts:  "hm",
	}
	tool := Message{Role: "tool", Content: "48213", ToolCallID: "call_a"}
	streamed := func(r ChatRequest) ChatRequest { r.Stream = true; return r }
	both := func(r ChatRequest) []ChatRequest { return []ChatRequest{r, streamed(r)} }
	switch kind {
	case "stream", "stream-no-usage":
		return []ChatRequest{streamed(base)}
	case "wrong-model":
		base.Model = "another"
	case "tools", "tools-cut":
		base.Tools = []any{map[string]any{"type": "function", "function": map[string]any{"name": "find"}}}
		if kind == "tools-cut" {
			base.MaxTokens = 4
		}
	case "history-bare":
		turn.Thoughts = ""
		base.Messages = []Message{user, turn, tool}
	case "history":
		base.Messages = []Message{user, turn, tool}
	case "turn-null", "turn-empty", "turn-absent":
		turn.Form = map[string]ContentForm{"turn-null": AsNull, "turn-empty": AsText, "turn-absent": AsAbsent}[kind]
		base.Messages = []Message{user, turn, tool}
	case "long":
		base.Messages[0].Content = strings.Repeat("many words ", 50)
	case "most":
		base.Messages[0].Content = strings.Repeat("many words ", 20)
	}
	return both(base)
}

// quirky returns a client of a fake with the switches on, and the fake.
func quirky(t *testing.T, o wire.Options) (*Client, *wire.Server) {
	t.Helper()
	o.Pause, o.Model = pause, "m"
	s, err := wire.New(o)
	require.NoError(t, err)
	c, err := New(Options{
		BaseURL:   "http://wire.test",
		APIKey:    canary,
		Model:     "m",
		Transport: s.Transport(),
		Limits:    Limits{Idle: 2 * time.Minute},
	})
	require.NoError(t, err)
	return c, s
}

// Every variant of every quirk, with the class and the notes that are right for it, on a fake clock.
func TestEveryQuirk(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range wire.Quirks() {
		for _, v := range q.Variants {
			name := q.Slug + "=" + v
			row, ok := quirkRows[name]
			seen[name] = true
			if !ok {
				t.Errorf("%s %s has no row", q.ID, name)
				continue
			}
			t.Run(q.ID+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { quirk(t, name, row) })
			})
		}
	}
	for name := range quirkRows {
		if !seen[name] {
			t.Errorf("row %s belongs to no quirk", name)
		}
	}
}

func quirk(t *testing.T, name string, row quirkRow) {
	t.Helper()
	window := 4096
	if row.ask == "long" || row.ask == "most" {
		window = 64
	}
	want := row.class
	if want == "" {
		want = OK
	}
	for i, r := range asks(row.ask) {
		c, _ := quirky(t, wire.Options{Window: window, Quirks: []string{name}})
		if row.ask == "twice" {
			_, err := c.Chat(t.Context(), r)
			require.NoError(t, err)
		}
		a, err := c.Chat(t.Context(), r)
		if got := ClassOf(a, err); got != want {
			t.Errorf("request %d: class %q (%v, %+v), want %q", i, got, err, a.Notes, want)
			continue
		}
		if want == OK && len(a.ToolCalls) == 0 {
			text := row.want
			if text == "" {
				text = wire.Text
			}
			if a.Text != text {
				t.Errorf("request %d: text %q, want %q", i, a.Text, text)
			}
			if u := a.Usage; u.Prompt.Known && (u.Completion.N == 0 || u.Prompt.N == 0) {
				t.Errorf("request %d: usage %+v", i, u)
			} else if !u.Prompt.Known && !strings.HasSuffix(name, "=never") && row.ask != "stream-no-usage" {
				t.Errorf("request %d: no usage was read", i)
			}
		}
		if err == nil {
			var notes []string
			for _, n := range a.Notes {
				notes = append(notes, n.Slug)
			}
			slices.Sort(notes)
			if fmt.Sprint(notes) != fmt.Sprint(slices.Sorted(slices.Values(row.notes))) {
				t.Errorf("request %d: notes %+v, want %v", i, a.Notes, row.notes)
			}
		}
		if row.check != nil {
			row.check(t, a, err)
		}
		if len(a.Exchange.Request) == 0 {
			t.Errorf("request %d: the bytes sent were not kept", i)
		}
	}
}
