package inflate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
)

// WriteIDs writes, one JSON object a line, what the model's tokenizer makes of both haystacks, paragraph by paragraph,
// and of chats: what another tokenizer is held against.
func WriteIDs(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, name := range []string{"haystack/opticks.txt.gz", "haystack/tom-sawyer.txt.gz"} {
		raw, err := fixtures.ReadFile(fixtures.FS, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for p := range strings.SplitSeq(string(raw), "\n\n") {
			if err := out.Encode(map[string]any{"text": p, "ids": append([]int{}, nano.Encode(p)...)}); err != nil {
				return fmt.Errorf("writing ids: %w", err)
			}
		}
	}
	question := "What is the access code for the Lisbon archive?\nAnswer with only the code."
	for _, chat := range [][]nano.Message{
		{{Role: "user", Content: question}},
		{{Role: "system", Content: "Answer with only the code."}, {Role: "user", Content: "(key) fact: 40718"}},
		{
			{Role: "user", Content: "the access code for Lisbon is 12345."},
			{Role: "assistant", Content: "12345"},
			{Role: "user", Content: question},
		},
	} {
		ids, err := nano.EncodeChat(chat)
		if err != nil {
			return err
		}
		var messages []map[string]string
		for _, m := range chat {
			messages = append(messages, map[string]string{"role": m.Role, "content": m.Content})
		}
		if err := out.Encode(map[string]any{"messages": messages, "ids": ids}); err != nil {
			return fmt.Errorf("writing ids: %w", err)
		}
	}
	return nil
}
