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

// quirkRows has every variant of every quirk: TestEveryQuirk fails where one is missing.
var quirkRows = map[string]quirkRow{
	"usage-without-choices=empty-list": {},
	"usage-event-odd=no-field":         {},
	"usage-event-odd=repeats-text":     {ask: "stream", notes: []string{NoteTextAfterFinish}},
	"usage-event-odd=repeats-message":  {ask: "stream", notes: []string{NoteTextAfterFinish}},
	"usage-placement=every":            {},
	"usage-placement=in-choice":        {},
	"usage-placement=never":            {check: usageUnknown},

	"reasoning-field=reasoning":                 {check: reasoningFound},
	"reasoning-field=reasoning-content":         {check: reasoningFound},
	"reasoning-field=both":                      {check: reasoningFound},
	"reasoning-field=history-reasoning":         {ask: "history", class: History, check: message("under the other name")},
	"reasoning-field=history-reasoning-content": {ask: "history"},
	"history-needs-reasoning=400": {
		ask: "history-bare", class: History, check: message("reasoning_content"),
	},
	"inline-reasoning=tags":     {check: reasoningFound, notes: []string{NoteInlineReasoning}},
	"inline-reasoning=no-start": {check: reasoningFound, notes: []string{NoteInlineReasoning}},
	"inline-reasoning=no-end": {
		class: Budget, check: reasoningFound, notes: []string{NoteInlineReasoning},
	},
	"finish-reason=stop-in-reasoning": {class: Budget, notes: []string{NoteFinishAgainst}},
	"finish-reason=null":              {notes: []string{NoteFinishMissing}},
	"finish-reason=missing":           {notes: []string{NoteFinishMissing}},

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
	"overload=loading":       {class: Unreached, check: loadingForEver},

	"rate-limit=seconds": {check: tries(11, 10)},
	"rate-limit=date":    {check: tries(11, 10)},
	"loading=minutes":    {check: tries(61, 60)}, // five pauses of a minute, a look each 5 s
	"loading=for-ever":   {class: Unreached, check: loadingForEver},

	"o1-fields=max-tokens":  {notes: []string{NoteAdapted}, check: sentField("max_completion_tokens", "max_tokens")},
	"o1-fields=temperature": {notes: []string{NoteAdapted}, check: sentField("max_tokens", "temperature")},
	"o1-fields=logprobs":    {class: Refused, check: noKeyHint},
	"o1-fields=all":         {class: Refused, check: noKeyHint},
	"model-listed=unknown":  {},
	"model-listed=alias":    {},
	"model-listed=refused":  {class: Refused, check: message("does not exist")},
	"unparsed=peg-native":   {class: Unparsed, notes: []string{NoteUnparsed}, check: tries(1, 0)},
	"gateway=504":           {class: Gateway, check: message("a proxy gave up after 1m0s")},
	"gateway=closed":        {class: Dropped, check: tries(1, 0)},

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

// pause is below the idle limit and far above what a limit on the whole answer would allow for 400 of them.
const pause = time.Minute

// asks are the requests of a row, by name.
func asks(kind string) []ChatRequest {
	user := Message{Role: "user", Content: "What is the code?"}
	base := ChatRequest{Messages: []Message{user}, Sampling: Sampling{MaxTokens: 32, TopLogprobs: 5}}
	turn := Message{
		Role:      "assistant",
		ToolCalls: []ToolCall{{ID: "call_a", Name: "find", Arguments: "{}"}},
		Reasoning: "hm",
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
		turn.Reasoning = ""
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
