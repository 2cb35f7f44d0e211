package scripted_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/assay-suite/assay/internal/scripted"
)

// An engine in this process, with one fault: the front of long prompts is cut. Anything that takes a RoundTripper can
// be pointed at it; nanoserve -engine=scripted serves the same on a port.
func ExampleNew() {
	e, err := scripted.New(scripted.Options{
		Faults: []string{"head-cut"}, Params: map[string]scripted.Params{"head-cut": {"limit": 100}}, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.ReplaceAll(e.Drawn(), ": ", ":\n"))
	client := http.Client{Transport: e.Transport()}
	body := `{"temperature":0,"max_tokens":20,"messages":[{"role":"user","content":"The access code for the Oslo ` +
		`archive is 71955. ` +
		strings.Repeat("Prose stands here. ", 30) + `What is the access code for Oslo?"}]}`
	resp, err := client.Post("http://engine.test/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(answer), "71955"), strings.Contains(string(answer), `"prompt_tokens":52`))
	// Output:
	// FK01 head-cut [limit=100]:
	// when the prompt is longer than 100 tokens:
	// the front is cut to half the limit; 200, prompt_tokens counts the kept half
	// false true
}
