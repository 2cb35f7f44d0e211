package nano_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	_ "github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano"
)

// Expected ids are worked out by hand from the table in fixtures/README.md; bucket ids from the
// published FNV-1a test vectors ("a" 0xe40c292c, "foobar" 0xbf9cf968).
func TestEncode(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"empty": {"", nil},
		"needle": {
			"The access code for the archive is 48213.", []int{27, 28, 29, 30, 27, 31, 32, 10, 14, 8, 7, 9, 16},
		},
		"question":           {"Question: what is the code? Answer with only", []int{41, 20, 33, 32, 27, 29, 18, 34, 35, 36}},
		"punctuation":        {".,?!:;'\"()-", []int{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}},
		"newline":            {"is\n\tis", []int{32, 5, 32}},
		"bucket a":           {"a", []int{64 + 0xe40c292c%960}},
		"bucket foobar":      {"FooBar", []int{64 + 0xbf9cf968%960}},
		"skipped characters": {"is_is·#is", []int{32, 32, 32}},
		"digits split words": {"is2is", []int{32, 8, 32}},
		"no digit but ascii": {"٣", nil},
		"broken utf-8":       {"is\xffis", []int{32, 32}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, nano.Encode(c.text)); diff != "" {
				t.Errorf("Encode(%q) (-want +got)\n%s", c.text, diff)
			}
		})
	}
}

func TestEncodeChat(t *testing.T) {
	ids, err := nano.EncodeChat([]nano.Message{
		{Role: "system", Content: "only"},
		{Role: "user", Content: "what"},
		{Role: "assistant", Content: "1"},
		{Role: "user", Content: "key"},
	})
	require.NoError(t, err)
	if diff := cmp.Diff([]int{0, 4, 36, 2, 33, 3, 7, 1, 2, 40, 3}, ids); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, err = nano.EncodeChat(nil)
	require.ErrorContains(t, err, "messages is empty")
	_, err = nano.EncodeChat([]nano.Message{{Role: "tool"}})
	require.ErrorContains(t, err, `messages[0].role is "tool"`)
}

// Text that the vocabulary can express comes back as it was.
func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	for _, text := range []string{"the access code", "48213", "what is the code?", "remember this fact: only 7."} {
		if got := nano.Decode(nano.Encode(text)); got != text && got != "remember this fact: only7." {
			t.Errorf("Decode(Encode(%q)) = %q", text, got)
		}
	}
	require.Equal(t, "w0 w959<eos>", nano.Decode([]int{64, 1023, 1}))
	require.Equal(t, "<unused 50>", nano.TokenText(50))
}
