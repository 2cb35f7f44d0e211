package nanoserve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle/faults"
)

// patience bounds waits for things that must happen; nothing is measured by it.
const patience = 30 * time.Second

// buffer is a bytes.Buffer that two goroutines may use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// up runs the command on a free port and returns the URL that it printed.
func up(t *testing.T, args ...string) (url string, log *buffer, down func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, in := io.Pipe()
	log = &buffer{}
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), in, log)
		in.Close()
	}()
	out := make(chan string, 1)
	go func() {
		line, _ := io.ReadAll(io.LimitReader(stdout, int64(len("http://127.0.0.1:00000/v1"))))
		out <- string(line)
		_, _ = io.Copy(io.Discard, stdout)
	}()
	down = func() int {
		cancel()
		select {
		case c := <-code:
			code <- c
			return c
		case <-time.After(patience):
			t.Fatalf("Run did not return within %v: %s", patience, log)
			return 0
		}
	}
	t.Cleanup(func() { down() })
	select {
	case line := <-out:
		url = strings.TrimSpace(line)
	case <-time.After(patience):
		t.Fatalf("no URL within %v: %s", patience, log)
	}
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/v1$`, url, "%s", log)
	return url, log, down
}

func get(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return fmt.Sprint(resp.StatusCode, " ", string(data))
}

// needleBody is one needle and its question; at depth 0 of 300 tokens it lies far outside the window.
func needleBody(words int) string {
	return `{"temperature":0,"max_tokens":8,"messages":[{"role":"user","content":"The access code for the Lisbon ` +
		`archive is 48213. ` +
		strings.Repeat("of light and colours , ", words/5) + `What is the access code for the Lisbon archive?"}]}`
}

// The tests run in the package folder, so the default folder is not there and the embedded one serves.
func TestServesEmbedded(t *testing.T) {
	url, log, down := up(t)
	if got := get(t, "GET", url+"/models", ""); !strings.HasPrefix(got, "200 ") ||
		!strings.Contains(got, `"id":"nano-v4"`) || !strings.Contains(got, `"max_model_len":8192`) {
		t.Errorf("models: %s", got)
	}
	if got := get(t, "POST", url+"/chat/completions", needleBody(300)); !strings.Contains(got, `"content":"48213"`) {
		t.Errorf("chat: %s", got)
	}
	if !strings.Contains(log.String(), "weights embedded") {
		t.Errorf("stderr does not say that the weights are embedded: %s", log)
	}
	if code := down(); code != codeOK {
		t.Errorf("code %d, want 0: %s", code, log)
	}
}

// nano-flash is embedded under its name, and has its cliff at 512 x 4 tokens.
func TestServesNanoFlash(t *testing.T) {
	url, log, _ := up(t, "-weights=nano-flash")
	if got := get(t, "GET", url+"/models", ""); !strings.Contains(got, `"id":"nano-flash"`) {
		t.Errorf("models: %s", got)
	}
	if got := get(t, "POST", url+"/chat/completions", needleBody(3000)); !strings.Contains(got, `"content":"48213"`) {
		t.Errorf("chat: %s", got)
	}
	if !strings.Contains(log.String(), "weights embedded (nano-flash)") {
		t.Errorf("stderr does not say that the weights are embedded: %s", log)
	}
	// Beyond 2,048 tokens ranking matters, and the start is lost to the last 512 rows.
	broken, _, _ := up(t, "-weights=nano-flash", "-fault=select-last")
	if got := get(t, "POST", broken+"/chat/completions", needleBody(3000)); strings.Contains(got, `"content":"48213"`) {
		t.Errorf("under select-last at 3,000 words: %s", got)
	}
	if got := get(t, "POST", broken+"/chat/completions", needleBody(1500)); !strings.Contains(got, `"content":"48213"`) {
		t.Errorf("under select-last at 1,500 words: %s", got)
	}
}

// nano-llama is embedded under its name, and has no faults.
func TestServesNanoLlama(t *testing.T) {
	url, log, _ := up(t, "-weights=nano-llama")
	if got := get(t, "GET", url+"/models", ""); !strings.Contains(got, `"id":"nano-llama"`) {
		t.Errorf("models: %s", got)
	}
	if got := get(t, "POST", url+"/chat/completions", needleBody(400)); !strings.Contains(got, `"content":"48213"`) {
		t.Errorf("chat: %s", got)
	}
	if !strings.Contains(log.String(), "weights embedded (nano-llama)") {
		t.Errorf("stderr does not say that the weights are embedded: %s", log)
	}
	var out, said bytes.Buffer
	code := Run(t.Context(), []string{"-weights=nano-llama", "-fault=select-last", "-addr=127.0.0.1:0"}, &out,
		&said)
	if code != 2 || !strings.Contains(said.String(), "plain Llama") {
		t.Errorf("a fault that it does not have: code %d, %s", code, said.String())
	}
}

func TestServesAFolder(t *testing.T) {
	url, log, down := up(t, "-weights", filepath.Join("..", "..", "..", "fixtures", "nano-v4-mxfp4"), "-max-model-len",
		"500")
	if got := get(t, "GET", url+"/models", ""); !strings.Contains(got, `"id":"nano-v4-mxfp4"`) ||
		!strings.Contains(got, `"max_model_len":500`) {
		t.Errorf("models: %s", got)
	}
	if got := get(t, "POST", url+"/chat/completions", needleBody(40)); !strings.Contains(got, `"content":"48213"`) {
		t.Errorf("chat: %s", got)
	}
	if code := down(); code != codeOK {
		t.Errorf("code %d, want 0: %s", code, log)
	}
}

// A fault that costs recall at every length must cost it here: the operator that serves is the faulty one.
func TestServesAFault(t *testing.T) {
	url, log, _ := up(t, "-fault=compressor-overlap-dropped")
	if got := get(t, "POST", url+"/chat/completions", needleBody(300)); !strings.HasPrefix(got, "200 ") ||
		strings.Contains(got, `"content":"48213"`) {
		t.Errorf("chat: %s", got)
	}
	if !strings.Contains(log.String(), "fault compressor-overlap-dropped: ") {
		t.Errorf("stderr does not name the fault: %s", log)
	}
}

// Two scripted faults at once, each seen: one token too many or few by the template, and nothing but plus signs.
func TestServesScripted(t *testing.T) {
	url, log, down := up(t, "-engine=scripted", "-fault=bos,FK33", "-seed=7", "-pace=0")
	got := get(t, "POST", url+"/chat/completions", needleBody(40))
	if !strings.Contains(got, `"content":"++++++++"`) {
		t.Errorf("chat: %s", got)
	}
	healthy, _, _ := up(t, "-engine=scripted", "-control=weak-model")
	plain := get(t, "POST", healthy+"/chat/completions", needleBody(40))
	count := regexp.MustCompile(`"prompt_tokens":(\d+)`)
	if a, b := count.FindString(got), count.FindString(plain); a == b || a == "" {
		t.Errorf("prompt_tokens %s under bos, %s without", a, b)
	}
	for _, want := range []string{"fault FK08 bos [", "fault FK33 dead-logits", "seed 7"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, log)
		}
	}
	if code := down(); code != codeOK {
		t.Errorf("code %d, want 0: %s", code, log)
	}
}

func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "model.safetensors"), []byte("no"), 0o600))
	file := filepath.Join(broken, "model.safetensors")
	for _, row := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"unknown flag", []string{"-weight=x"}, codeUsage, "-weight"},
		{"argument", []string{"serve"}, codeUsage, `"serve"`},
		{"bad address", []string{"-addr", "8088"}, codeUsage, "host:port"},
		{"bad length", []string{"-max-model-len", "many"}, codeUsage, "many"},
		{"zero length", []string{"-addr=127.0.0.1:0", "-max-model-len=0"}, codeUsage, "outside 1.."},
		{"no folder", []string{"-weights", "nowhere"}, codeUsage, "nowhere"},
		{"neither folder nor model", []string{"-weights", "nano-v5"}, codeUsage, "nano-v4, nano-flash"},
		{"a file", []string{"-weights", file}, codeUsage, "is a file"},
		{"default named but absent", []string{"-weights", defaultWeights}, codeUsage, "cannot be opened"},
		{"broken weights", []string{"-addr=127.0.0.1:0", "-weights", broken}, codeFailed, "does not hold a nano checkpoint"},
		{"address in use", []string{"-addr", taken.Addr().String()}, codeUnreachable, "already in use"},
		{"no such host", []string{"-addr", "256.0.0.1:0"}, codeUnreachable, "cannot listen"},
		{"unknown fault", []string{"-addr=127.0.0.1:0", "-fault=select-nothing"}, codeUsage, "select-last"},
		{"unknown engine", []string{"-engine=steam"}, codeUsage, `"steam"`},
		{"unknown scripted fault", []string{"-engine=scripted", "-fault=head-cut,select-last"}, codeUsage, "warm-forgets"},
		{"unknown control", []string{"-engine=scripted", "-control=odd"}, codeUsage, "weak-model"},
		{"weights of the scripted engine", []string{"-engine=scripted", "-weights=."}, codeUsage, "has none"},
		{"short scripted window", []string{"-engine=scripted", "-max-model-len=9"}, codeUsage, "at least 64"},
		{"seed of the nano engine", []string{"-addr=127.0.0.1:0", "-seed=4"}, codeUsage, "-engine=scripted"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Run(context.Background(), row.args, &stdout, &stderr)
			last := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if code != row.code || !strings.Contains(last[len(last)-1], row.says) || stdout.Len() != 0 {
				t.Errorf("code %d %q stdout %q, want %d with %q", code, stderr.String(), stdout.String(), row.code, row.says)
			}
		})
	}
}

// Seven faults are promised to be servable, and a wrong name must list them all.
func TestFaultNames(t *testing.T) {
	var stderr bytes.Buffer
	if code := Run(context.Background(), []string{"-fault=?"}, io.Discard, &stderr); code != codeUsage {
		t.Errorf("code %d", code)
	}
	for _, name := range append(faults.Names(), "select-random", "select-last", "compressor-overlap-dropped",
		"first-half-lost", "comb-transposed", "window-one-short", "v-scale-1.02") {
		if o, err := parse([]string{"-fault", name}, io.Discard); err != nil || o.fault.Name != name {
			t.Errorf("-fault=%s: %v", name, err)
		}
		if !strings.Contains(stderr.String(), name) {
			t.Errorf("the list of faults lacks %s", name)
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Run(context.Background(), []string{"-h"}, &stdout, &stderr); code != codeOK || stderr.Len() > 0 {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
	for _, want := range []string{
		"-addr host:port", "-weights folder", "-fault name", "-max-model-len tokens", "v-scale-1.02", "-engine engine",
		"-seed number", "FK01 head-cut", "FK44 wrong-prompt", "thinking-budget",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, stdout.String())
		}
	}
}

func TestAddresses(t *testing.T) {
	for name, row := range map[string]struct{ flag, addr string }{
		"no host is loopback": {":8088", "127.0.0.1:8088"},
		"told otherwise":      {"0.0.0.0:8088", "0.0.0.0:8088"},
		"ipv6":                {"[::1]:0", "[::1]:0"},
	} {
		if o, err := parse([]string{"-addr", row.flag}, io.Discard); err != nil || o.addr != row.addr {
			t.Errorf("%s: %q, %v, want %q", name, o.addr, err, row.addr)
		}
	}
	for name, row := range map[string]struct {
		addr net.TCPAddr
		url  string
	}{
		"loopback":    {net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8088}, "http://127.0.0.1:8088/v1"},
		"unspecified": {net.TCPAddr{IP: net.IPv6unspecified, Port: 9}, "http://127.0.0.1:9/v1"},
		"ipv6":        {net.TCPAddr{IP: net.IPv6loopback, Port: 9}, "http://[::1]:9/v1"},
	} {
		if got := baseURL(&row.addr); got != row.url {
			t.Errorf("%s: %q, want %q", name, got, row.url)
		}
	}
}

// A bug of the mechanism engine is served and said; its sound twin and an unknown bug beside it.
func TestServesMechanism(t *testing.T) {
	ask := strings.Replace(needleBody(40), `"max_tokens":8`, `"max_tokens":40`, 1)
	url, log, down := up(t, "-engine=mechanism", "-fault=logits-buffer-constant", "-seed=7", "-pace=0")
	if got := get(t, "POST", url+"/chat/completions", ask); !strings.HasPrefix(got, "200 ") ||
		strings.Contains(got, "48213") {
		t.Errorf("chat: %s", got)
	}
	for _, want := range []string{"fault logits-buffer-constant: ", "seed 7"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, log)
		}
	}
	if code := down(); code != codeOK {
		t.Errorf("code %d, want 0: %s", code, log)
	}
	sound, _, _ := up(t, "-engine=mechanism", "-control=terse", "-seed=7", "-max-model-len=4096")
	if got := get(t, "POST", sound+"/chat/completions", ask); !strings.Contains(got, "48213") {
		t.Errorf("chat: %s", got)
	}
	for _, flag := range []string{"-fault=nobody", "-control=nobody", "-weights=x", "-max-model-len=8"} {
		log := &buffer{}
		if code := Run(t.Context(), []string{"-engine=mechanism", flag}, io.Discard, log); code != codeUsage {
			t.Errorf("%s: code %d, want %d: %s", flag, code, codeUsage, log)
		}
	}
}
