package nano

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token ids with a meaning of their own (fixtures/README.md, "Tokenizer").
const (
	BOS       = 0
	EOS       = 1
	User      = 2
	Assistant = 3
	System    = 4
	Newline   = 5

	firstDigit = 6
	firstPunct = 16
	firstWord  = 27

	// FirstBucket is the id of the first hash bucket; every word outside the template falls into
	// one of Buckets of them.
	FirstBucket = 64
	// Buckets is the number of hash buckets.
	Buckets = 960
	// VocabSize is the number of ids.
	VocabSize = FirstBucket + Buckets
)

const punctuation = ".,?!:;'\"()-"

var (
	special  = []string{"<bos>", "<eos>", "<user>", "<assistant>", "<system>", "\n"}
	template = strings.Fields("the access code for archive is what answer with only remember this fact key question")
)

// Encode turns text into token ids without any frame: lower-cased, digits one by one, punctuation
// as itself, template words as themselves, every other run of letters as a hash bucket. Blanks
// separate; a character that is none of these is skipped.
func Encode(text string) []int {
	var ids []int
	text = strings.ToLower(text)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			ids = append(ids, Newline)
		case r >= '0' && r <= '9':
			ids = append(ids, firstDigit+int(r-'0'))
		case strings.ContainsRune(punctuation, r):
			ids = append(ids, firstPunct+strings.IndexRune(punctuation, r))
		case unicode.IsLetter(r):
			size = len(text) - len(strings.TrimLeftFunc(text, unicode.IsLetter))
			ids = append(ids, wordID(text[:size]))
		}
		text = text[size:]
	}
	return ids
}

func wordID(word string) int {
	for i, w := range template {
		if w == word {
			return firstWord + i
		}
	}
	return FirstBucket + Bucket(word)
}

// Bucket is the hash bucket of a lower-case word, 0 to Buckets-1: fnv1a32 mod 960. Two words with
// one bucket are one word to the model.
func Bucket(word string) int {
	h := fnv.New32a()
	h.Write([]byte(word))
	return int(h.Sum32() % Buckets)
}

// Message is one turn of a chat. Role is "user", "assistant" or "system".
type Message struct{ Role, Content string }

// EncodeChat frames messages as nano-v4 was trained: <bos>, then for each turn its role token and
// text, an assistant turn ended by <eos>; <assistant> at the end asks for an answer.
func EncodeChat(messages []Message) ([]int, error) {
	if len(messages) == 0 {
		return nil, fmt.Errorf("messages is empty; send at least one message with role %q", "user")
	}
	ids := []int{BOS}
	for i, m := range messages {
		switch m.Role {
		case "system":
			ids = append(ids, System)
		case "user":
			ids = append(ids, User)
		case "assistant":
			ids = append(ids, Assistant)
		default:
			return nil, fmt.Errorf("messages[%d].role is %q; nano-v4 knows \"system\", \"user\" and \"assistant\"", i, m.Role)
		}
		ids = append(ids, Encode(m.Content)...)
		if m.Role == "assistant" {
			ids = append(ids, EOS)
		}
	}
	return append(ids, Assistant), nil
}

// TokenText is how an id reads: specials and digits and punctuation as themselves, template words
// with a blank before them, buckets as " w0" to " w959".
func TokenText(id int) string {
	switch {
	case id >= 0 && id < len(special):
		return special[id]
	case id >= firstDigit && id < firstPunct:
		return strconv.Itoa(id - firstDigit)
	case id >= firstPunct && id < firstWord:
		return punctuation[id-firstPunct : id-firstPunct+1]
	case id >= firstWord && id < firstWord+len(template):
		return " " + template[id-firstWord]
	case id >= FirstBucket && id < VocabSize:
		return " w" + strconv.Itoa(id-FirstBucket)
	default:
		return fmt.Sprintf("<unused %d>", id)
	}
}

// Decode is the text of a run of ids, without a leading blank.
func Decode(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(TokenText(id))
	}
	return strings.TrimPrefix(b.String(), " ")
}
