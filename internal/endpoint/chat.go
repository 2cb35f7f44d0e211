package endpoint

import (
	"context"
	"fmt"
	"maps"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// Sampling is what both kinds of request share. Temperature 0 and top_p 1 are always sent: a server
// fills omitted fields from the checkpoint's defaults.
type Sampling struct {
	Model       string         // empty: the client's
	MaxTokens   int            // required, at least 1
	TopLogprobs int            // alternatives per token; 0 asks for no log-probabilities
	Seed        *int           // nil: not sent
	Stop        []string       // nil: not sent
	Stream      bool           // ask for an event stream; the answer is the same
	Neutral     bool           // send the fields of NeutralSampling too; strict servers refuse them
	Extra       map[string]any // more body fields, e.g. cache_salt; they win over all others, nil removes none
}

// ChatRequest asks /v1/chat/completions. Tools is sent as it is, where not nil.
type ChatRequest struct {
	Messages []Message
	Tools    any
	Sampling
}

// CompletionRequest asks /v1/completions with a text or, when IDs is not nil, with token ids.
type CompletionRequest struct {
	Prompt string
	IDs    []int
	Echo   bool
	Sampling
}

// NeutralSampling is every other field for which servers take the checkpoint's default when it is left out, at the
// value that changes nothing: top_k off, min_p 0, no penalty.
func NeutralSampling() map[string]any {
	return map[string]any{"top_k": -1, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0}
}

// nameless goes to go-openai in place of the model's name: it refuses names and fields by what OpenAI's own models of a
// like name take ("o1...", "gpt-5...", "text-..."), and a server of open models may call its model anything.
const nameless = "model"

// Chat sends a chat completion. On error the Answer still carries the Exchange; ClassOf sorts both. Where the server
// refuses max_tokens or the temperature, it is asked in its own terms, and the answer says so in a note.
func (c *Client) Chat(ctx context.Context, r ChatRequest) (Answer, error) {
	return c.adapting(r.Sampling, func(d dialect) (Answer, error) { return c.chat(ctx, r, d) })
}

func (c *Client) chat(ctx context.Context, r ChatRequest, d dialect) (Answer, error) {
	k, err := c.newCall(r.Sampling, d)
	if err != nil {
		return Answer{}, err
	}
	req := openai.ChatCompletionRequest{
		Model: nameless, MaxTokens: r.MaxTokens, TopP: 1, Stream: r.Stream, StreamOptions: usageIn(r.Stream),
		LogProbs: r.TopLogprobs > 0, TopLogProbs: r.TopLogprobs, Stop: r.Stop, Seed: r.Seed,
		Messages: make([]openai.ChatCompletionMessage, len(r.Messages)),
	}
	if d.completion {
		req.MaxTokens, req.MaxCompletionTokens = 0, r.MaxTokens
	}
	if d.topP {
		req.TopP = 0
	}
	ours := false
	for i, m := range r.Messages {
		turn, more, err := m.openai()
		if err != nil {
			return Answer{}, err
		}
		ours = ours || len(more) > 0 || len(m.Content) > longText
		if req.Messages[i] = turn; len(m.Content) > longText {
			req.Messages[i].Content = ""
		}
		k.history = k.history || m.Role == openai.ChatMessageRoleAssistant
	}
	if ours {
		if k.fields["messages"], err = turns(r.Messages); err != nil {
			return Answer{}, err
		}
	}
	if r.Tools != nil {
		k.fields["tools"] = r.Tools // JSON of the caller's: the library's type drops "strict": false
	}
	maps.Copy(k.fields, r.Extra)
	ctx = context.WithValue(ctx, callKey{}, k)
	if r.Stream {
		_, err = sent(c.api.CreateChatCompletionStream(ctx, req))
	} else {
		_, err = c.api.CreateChatCompletion(ctx, req)
	}
	return c.finish(k, r.Sampling, "chat completion", err)
}

// Complete sends a text completion. On error the Answer still carries the Exchange; ClassOf sorts both.
func (c *Client) Complete(ctx context.Context, r CompletionRequest) (Answer, error) {
	return c.adapting(r.Sampling, func(d dialect) (Answer, error) { return c.complete(ctx, r, d) })
}

func (c *Client) complete(ctx context.Context, r CompletionRequest, d dialect) (Answer, error) {
	k, err := c.newCall(r.Sampling, d)
	if err != nil {
		return Answer{}, err
	}
	req := openai.CompletionRequest{
		Model: nameless, Prompt: r.Prompt, Echo: r.Echo, MaxTokens: r.MaxTokens, TopP: 1, Stream: r.Stream,
		StreamOptions: usageIn(r.Stream), LogProbs: r.TopLogprobs, Stop: r.Stop, Seed: r.Seed,
	}
	if d.topP {
		req.TopP = 0
	}
	if r.IDs != nil {
		k.fields["prompt"] = r.IDs // the library refuses token ids
	}
	maps.Copy(k.fields, r.Extra)
	ctx = context.WithValue(ctx, callKey{}, k)
	if r.Stream {
		_, err = sent(c.api.CreateCompletionStream(ctx, req))
	} else {
		_, err = c.api.CreateCompletion(ctx, req)
	}
	return c.finish(k, r.Sampling, "completion", err)
}

// adapting asks again while the server refuses a field for which there is another way.
func (c *Client) adapting(s Sampling, ask func(dialect) (Answer, error)) (Answer, error) {
	model := c.modelOf(s)
	for {
		d := c.wire.dialects.of(model)
		a, err := ask(d)
		if err != nil && c.wire.dialects.learn(model, d, err) {
			continue
		}
		if said := d.String(); err == nil && said != "" {
			a.note(NoteAdapted, said)
		}
		return a, err
	}
}

func usageIn(stream bool) *openai.StreamOptions {
	if !stream {
		return nil
	}
	return &openai.StreamOptions{IncludeUsage: true}
}

// sent closes the library's view of a stream, which the transport has read to its end.
func sent[S interface{ Close() error }](s S, err error) (S, error) {
	if err == nil {
		err = s.Close()
	}
	return s, err
}

func (c *Client) modelOf(s Sampling) string {
	if s.Model != "" {
		return s.Model
	}
	return c.model
}

// newCall has the fields that the library cannot say: a model of any name, zeros, and those that servers added.
func (c *Client) newCall(s Sampling, d dialect) (*call, error) {
	if s.MaxTokens < 1 {
		return nil, fmt.Errorf("endpoint: max_tokens is %d: it must be at least 1", s.MaxTokens)
	}
	k := &call{answer: true, stream: s.Stream, fresh: c.fresh, fields: map[string]any{"model": c.modelOf(s)}}
	if !d.temperature {
		k.fields["temperature"] = 0
	}
	if s.Neutral {
		maps.Copy(k.fields, NeutralSampling())
	}
	return k, nil
}

// finish makes the answer of what the transport read.
func (c *Client) finish(k *call, s Sampling, what string, err error) (Answer, error) {
	a := Answer{Exchange: k.out}
	if err != nil {
		return a, fmt.Errorf("%s: %w", what, c.wrap(err))
	}
	r := k.reply
	if r == nil {
		return a, fmt.Errorf("%s: endpoint: no answer was read", what)
	}
	a.Model = c.Redact(r.model)
	if r.events == 0 {
		return a, fmt.Errorf("%s: endpoint: the answer has no choices: %q", what, shorten(string(k.out.Response), 200))
	}
	a.Finish, a.Usage, a.Tokens, a.Shape, a.Notes = r.finish, r.usage, r.tokens, r.shape, r.notes
	var replaced int
	a.Content, replaced = mend(c.Redact(r.content.text()), r.tokens)
	a.Reasoning = c.Redact(r.reasoning.text())
	var broken string
	a.ToolCalls, broken = r.calls.done(c.Redact)
	for i := range a.Tokens {
		a.Tokens[i].Text = c.Redact(a.Tokens[i].Text)
	}
	text, reasoning, inline := splitReasoning(a.Content)
	a.Text = text
	if inline {
		a.note(NoteInlineReasoning, "reasoning is inline in the content: the server has no reasoning parser, or the "+
			"wrong one")
		if a.Reasoning == "" {
			a.Reasoning = reasoning
		}
	}
	if replaced > 0 {
		a.note(NoteReplaced, fmt.Sprintf("U+FFFD %d times in the content as sent", replaced))
	}
	if r.late > 0 {
		a.note(NoteTextAfterFinish, fmt.Sprintf("%d bytes after the finish reason", r.late))
	}
	if _, unparsed := a.Noted(NoteUnparsed); a.Finish == "" && !unparsed {
		a.note(NoteFinishMissing, "the answer is complete, without a finish reason")
	}
	a.Null = r.content.null && a.Content == "" && a.Reasoning == "" && len(a.ToolCalls) == 0
	full := a.Usage.Completion.Known && a.Usage.Completion.N >= s.MaxTokens
	a.Cut = a.Finish == "length" || full
	if full && (a.Finish == "tool_calls" || a.Finish == "stop" && a.Text == "" && a.Reasoning != "") {
		a.note(NoteFinishAgainst, fmt.Sprintf("finish_reason is %q, but all %d tokens of max_tokens were used", a.Finish,
			s.MaxTokens))
	}
	if broken != "" {
		a.note(NoteCutToolCall, broken)
	}
	asked := c.modelOf(s)
	if a.Model != "" && asked != "" && a.Model != asked {
		a.note(NoteRenamed, fmt.Sprintf("requested model %q, answered by %q", asked, a.Model))
	}
	if before, changed := c.wire.names.saw(asked, a.Model); changed {
		a.note(NoteModelChanged, fmt.Sprintf("answered by %q before, by %q now", before, a.Model))
	}
	return a, nil
}

func (a *Answer) note(slug, detail string) {
	if _, there := a.Noted(slug); !there {
		a.Notes = append(a.Notes, Note{slug, detail})
	}
}

// names remembers which model answered to which name.
type names struct {
	mu sync.Mutex
	by map[string]string
}

// saw returns the model that answered first to asked, and whether now is another.
func (n *names) saw(asked, now string) (before string, changed bool) {
	if now == "" {
		return "", false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = map[string]string{}
	}
	before, there := n.by[asked]
	if !there {
		n.by[asked] = now
	}
	return before, there && before != now
}

// wrap redacts errors that go-openai made itself, e.g. from a body it could not decode.
func (c *Client) wrap(err error) error {
	if s := err.Error(); c.Redact(s) != s {
		return fmt.Errorf("%s", c.Redact(s))
	}
	return err
}
