package server

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
)

// Nano serves a nano-v4 model under a name, with a context of at most maxModelLen tokens. It fails when
// maxModelLen is not in 1..max_position_embeddings of the model. The model may be shared with other
// engines.
func Nano(model *nano.Model, name string, maxModelLen int) (Engine, error) {
	if most := model.Config.MaxPositions; maxModelLen < 1 || maxModelLen > most {
		return nil, fmt.Errorf("server: a context of %d tokens is outside 1..%d, the model's max_position_embeddings",
			maxModelLen, most)
	}
	return nanoEngine{
		name: name, maxModelLen: maxModelLen, vocab: model.Config.Vocab,
		start: func() State { return nanoState{model, model.NewState()} },
	}, nil
}

// Llama serves a plain Llama of the same tokenizer, under the conditions of Nano.
func Llama(model *llama.Model, name string, maxModelLen int) (Engine, error) {
	if most := model.Config.MaxPositions; maxModelLen < 1 || maxModelLen > most {
		return nil, fmt.Errorf("server: a context of %d tokens is outside 1..%d, the model's max_position_embeddings",
			maxModelLen, most)
	}
	if model.Config.Vocab != nano.VocabSize {
		return nil, fmt.Errorf("server: the model has %d token ids, the tokenizer of the nano models %d", model.Config.Vocab,
			nano.VocabSize)
	}
	return nanoEngine{
		name: name, maxModelLen: maxModelLen, vocab: model.Config.Vocab,
		start: func() State { return llamaState{model, model.NewState()} },
	}, nil
}

// nanoEngine is the tokenizer of the nano models over one of them.
type nanoEngine struct {
	name               string
	maxModelLen, vocab int
	start              func() State
}

func (e nanoEngine) Name() string             { return e.name }
func (e nanoEngine) MaxModelLen() int         { return e.maxModelLen }
func (e nanoEngine) Encode(text string) []int { return nano.Encode(text) }
func (e nanoEngine) TokenText(id int) string  { return nano.TokenText(id) }
func (e nanoEngine) Vocab() int               { return e.vocab }
func (e nanoEngine) BOS() int                 { return nano.BOS }
func (e nanoEngine) EOS() int                 { return nano.EOS }

// Special are the marks before the newline; a newline is text.
func (e nanoEngine) Special(id int) bool { return id < nano.Newline }

func (e nanoEngine) EncodeChat(messages []Message) ([]int, error) {
	turns := make([]nano.Message, len(messages))
	for i, m := range messages {
		turns[i] = nano.Message{Role: m.Role, Content: m.Content}
	}
	return nano.EncodeChat(turns)
}

func (e nanoEngine) NewState() State { return e.start() }

type nanoState struct {
	model *nano.Model
	*nano.State
}

func (s nanoState) Extend(ctx context.Context, ids []int, last int) ([][]float64, error) {
	return s.model.Extend(ctx, s.State, ids, last)
}

func (s nanoState) Clone() State { return nanoState{s.model, s.State.Clone()} }

type llamaState struct {
	model *llama.Model
	*llama.State
}

func (s llamaState) Extend(ctx context.Context, ids []int, last int) ([][]float64, error) {
	return s.model.Extend(ctx, s.State, ids, last)
}

func (s llamaState) Clone() State { return llamaState{s.model, s.State.Clone()} }
