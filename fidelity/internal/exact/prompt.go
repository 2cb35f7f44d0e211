package exact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// Prompt is a cell's question: the user message, its token ids in the nano models' chat frame, and the code.
type Prompt struct {
	Text string
	IDs  []int
	Code string
}

// Build makes a cell's prompt in Opticks. It is the same text everywhere: no server is asked for a count.
func Build(ctx context.Context, h *needle.Haystack, c Cell) (Prompt, error) {
	b := needle.Builder{Haystack: h, Bucket: nano.Bucket, Count: func(_ context.Context, text string) (int, error) {
		ids, err := framed(text)
		return len(ids), err
	}}
	p, err := b.BuildExact(ctx, needle.Spec{Case: c.ID, Seed: c.Seed, Depth: c.Depth}, c.Length)
	if err != nil {
		return Prompt{}, err
	}
	ids, err := framed(p[0].Text)
	if err != nil {
		return Prompt{}, err
	}
	if len(ids) != c.Length {
		return Prompt{}, fmt.Errorf("%s: the prompt has %d tokens, want %d", c.ID, len(ids), c.Length)
	}
	return Prompt{Text: p[0].Text, IDs: ids, Code: p[0].Truth.Code}, nil
}

func framed(text string) ([]int, error) {
	return nano.EncodeChat([]nano.Message{{Role: "user", Content: text}})
}

// Digest is the first bytes of a text's SHA-256.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
