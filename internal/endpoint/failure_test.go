package endpoint

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An error MUST be found in a whole body in whatever spelling JSON allows, and nothing else taken for one.
func TestErrorsInWholeBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no","code":503}}`:               "no",
		`{"Error":"no"}`:                                      "no",
		`{"\u0065rror":"no"}`:                                 "no",
		`{"er\u0072or":"no"}`:                                 "no",
		`{"object":"error","message":"no","code":"400"}`:      "no",
		`{"tokens":[1,2,3],"detail":"no"}`:                    "no",
		`{"MESSAGE":"no","code":404}`:                         "no",
		`{"tokens":[1,2,3],"count":3}`:                        "",
		`{"tokens":["errors are told"],"count":3}`:            "",
		`{"message":"a lone message is none"}`:                "",
		`{"detail":"beside choices it is none","choices":[]}`: "",
		`{"e`:  "",
		`"err`: "",
		``:     "",
	} {
		msg, _, bad := errorObject([]byte(body))
		assert.Equal(t, want, msg, body)
		assert.Equal(t, want != "", bad, body)
	}
}

// Tokens MUST be counted by the count, else by the list; ids are read where they are wanted, and what is no list is
// told.
func TestTokensAreRead(t *testing.T) {
	for body, want := range map[string]Tokenization{
		`{"count":3,"tokens":[7,8,9],"max_model_len":64}`: {
			Supported: true,
			Count:     3,
			IDs:       []int{7, 8, 9},
			Window:    Count{64, true},
		},
		`{"tokens":[{"id":7,"piece":"a"},{"id":8,"piece":"\"b"}]}`: {Supported: true, Count: 2, IDs: []int{7, 8}},
		`{"tokens":["a","b"]}`: {Supported: true, Count: 2},
		`{"count":3}`:          {Supported: true, Count: 3},
		`{"tokens":[]}`:        {Supported: true},
	} {
		got, err := readTokens([]byte(body), true)
		assert.NoError(t, err, body)
		assert.Equal(t, want, got, body)
		got, err = readTokens([]byte(body), false)
		assert.NoError(t, err, body)
		want.IDs = nil
		assert.Equal(t, want, got, body)
	}
	for body, says := range map[string]string{
		`{"tokens":{"a":1}}`:     "cannot be read",
		`{"count":"three"}`:      "cannot be read",
		`[`:                      "cannot be read",
		`{"max_model_len":4096}`: "neither count nor tokens",
	} {
		_, err := readTokens([]byte(body), false)
		assert.ErrorContains(t, err, says, body)
	}
}
