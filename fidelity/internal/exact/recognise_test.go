package exact

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/server"
)

// A model MUST be recognised by what it answers, whatever it is called; one that answers wrongly, or in other tokens,
// MUST NOT be.
func TestRecognise(t *testing.T) {
	h, err := needle.Opticks()
	require.NoError(t, err)
	v4, flash := loadNano(t, "nano-v4").Fast(), loadNano(t, "nano-flash").Fast()
	far := faulty(t, v4, "comb-transposed") // answers, and 3 nats from its margins
	l, err := server.Llama(loadLlama(t), "somebody's model", shortWindow)
	require.NoError(t, err)
	for _, row := range []struct {
		name, model, why string
		asker            *Asker
	}{
		{"by its name", "nano-v4", "vocabulary and 5 of 5", ofModel(t, v4, "nano-v4", shortWindow)},
		{"by its vocabulary", "nano-flash", "vocabulary and 5 of 5", ofModel(t, flash, "/tmp/x", shortWindow)},
		{"another than its name", "nano-flash", "served as nano-v4", ofModel(t, flash, "nano-v4", shortWindow)},
		{"by its name, with a fault", "nano-v4", "5 of 5", ofModel(t, far, "nano-v4", shortWindow)},
		{"margins of none", "", "of no model with a reference", ofModel(t, far, "x", shortWindow)},
		{"a Llama without a reference", "", "of no model with a reference", asking(t, l)},
		{"wrong answers", "", "5 short prompts are answered exactly", ofModel(t, faulty(t, v4, "output-rope-kept"), "nano-v4",
			shortWindow)},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.True(t, Hint(row.asker.Flight), "no hint of it in the pre-flight")
			r, why, err := row.asker.recognise(t.Context(), h)
			require.NoError(t, err)
			assert.Equal(t, row.model, r.Model)
			assert.Contains(t, why, row.why)
		})
	}
}

// Tokens of other vocabularies MUST NOT pass for the nano models', single digits alone among them.
func TestSpeaks(t *testing.T) {
	list := func(texts ...string) []endpoint.Token {
		var t endpoint.Token
		for _, s := range texts {
			t.Top = append(t.Top, endpoint.Alternative{Token: s})
		}
		return []endpoint.Token{t}
	}
	assert.True(t, Speaks(list("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", " w17", " the", "<eos>")))
	assert.True(t, Speaks(list("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "▁w17", "</s>")), "any end mark")
	assert.False(t, Speaks(list("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", " The", "\n\n")))
	assert.False(t, Speaks(list("The", " the", " a", "I", " I", "It", " In", ".", ",", "As", "To", "We")))
	assert.False(t, Speaks(list("1", "2", "3")))
	assert.False(t, Speaks(nil))
}
