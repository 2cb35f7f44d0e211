package candidate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/safetensors"
)

// fakeVariable turns this test binary into a worker; its value says how it behaves outside of calls.
const fakeVariable = "CANDIDATE_FAKE"

func TestMain(m *testing.M) {
	if how, fake := os.LookupEnv(fakeVariable); fake {
		os.Exit(beWorker(how))
	}
	os.Exit(m.Run())
}

// fake returns the command line of such a worker.
func fake(t *testing.T, how string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	// the race detector sleeps 1 s at exit
	return fmt.Sprintf("GORACE=atexit_sleep_ms=0 %s=%s '%s'", fakeVariable, how, self)
}

// copying is a call of the fake's operator, whose output y is its operand x; do says what the fake does wrong.
func copying(id, do string) Call {
	return Call{
		Op: "copy", Case: id, Attrs: map[string]any{"do": do},
		Storage: map[string]Storage{"x": FromFloat32s([]float32{1, 2, 3})},
		Outputs: map[string]Output{"y": {DType: "F32", Shape: []int{3}, Prefill: "nan"}},
	}
}

// patience is the limit where nothing is expected to take long.
const patience = 2 * time.Minute

func begin(t *testing.T, how string, opts Options) *Worker {
	t.Helper()
	w, err := Start(context.WithoutCancel(t.Context()), fake(t, how), opts) // Cleanup comes after the end of t.Context
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		require.NoDirExists(t, w.dir)
	})
	return w
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// beWorker is the fake: a worker with every fault that the client must survive, chosen by the attribute "do".
func beWorker(how string) int {
	fmt.Fprintln(os.Stderr, "fake worker", how)
	switch how {
	case "mute":
		time.Sleep(time.Hour)
	case "dies":
		return 7
	case "once": // the first process of a folder starts, no other does
		if _, err := os.Stat(os.Getenv("FAKE_MARK")); err == nil {
			return 7
		}
		if err := os.WriteFile(os.Getenv("FAKE_MARK"), nil, 0o600); err != nil {
			return 1
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		raw, err := in.ReadBytes('\n')
		if err != nil {
			switch how {
			case "stays":
				time.Sleep(time.Hour)
			case "fails-at-end":
				return 9
			}
			return 0
		}
		var call struct {
			callLine
			Protocol int `json:"protocol"`
		}
		if err := json.Unmarshal(raw, &call); err != nil {
			fmt.Fprintln(os.Stderr, "fake worker got", err)
			return 1
		}
		if call.Op == "hello" {
			sayHello(how)
			continue
		}
		if code := answer(call.callLine); code >= 0 {
			return code
		}
	}
}

func sayHello(how string) {
	switch how {
	case "protocol-2":
		say(`{"protocol":2,"name":"fake","ops":{"copy":{}}}`)
	case "nameless":
		say(`{"protocol":1,"ops":{"copy":{}}}`)
	case "empty":
		say(`{"protocol":1,"name":"fake","ops":{}}`)
	case "prints-first":
		say("import took 3 s")
	case "prints-and-serves":
		say("import took 3 s\nusing device 0")
		say(`{"protocol":1,"name":"fake","version":"1","device":"none","ops":{"copy":{}}}`)
	case "changes":
		say(`{"protocol":1,"name":"fake-%d","ops":{"copy":{}}}`, os.Getpid())
	default:
		say(`{"protocol":1,"name":"fake","version":"1","device":"none","ops":{"copy":{"dtypes":["F32"],` +
			`"phases":["decode"],"modes":["eager","graph"]},"plain":{}}}`)
	}
}

func answer(c callLine) (code int) {
	do, _ := c.Attrs["do"].(string)
	ok := fmt.Sprintf(`{"id":%d,"ok":true,"seconds":0.5,"path":"fake %s","digests":["d"]}`, c.ID, c.Mode)
	value := []byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64}
	y := safetensors.Tensor{Name: "y", DType: "F32", Shape: []int{3}, Data: value}
	write := func(tensors ...safetensors.Tensor) {
		if err := safetensors.WriteFile(c.Write, nil, tensors...); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	switch do {
	case "hang":
		time.Sleep(time.Hour)
	case "crash":
		fmt.Fprintln(os.Stderr, "CUDA error: an illegal memory access was encountered")
		return 3
	case "leave":
		return 0
	case "garbage":
		say("Segmentation fault")
	case "null":
		say("null")
	case "no-ok":
		say(`{"id":%d}`, c.ID)
	case "wrong-id":
		write(y)
		say(`{"id":%d,"ok":true}`, c.ID-1)
	case "huge-line":
		say("%s", bytes.Repeat([]byte("x"), maxLine+1))
	case "half-line":
		fmt.Print(ok[:10])
		return 0
	case "close-stdout":
		_ = os.Stdout.Close()
		time.Sleep(time.Hour)
	case "prints":
		say("debug: launching")
		write(y)
		say("%s", ok)
	case "failed":
		say(`{"id":%d,"ok":false,"kind":"error","message":"out of memory"}`, c.ID)
	case "unsupported":
		say(`{"id":%d,"ok":false,"kind":"unsupported","message":"heads must be 32 or 64"}`, c.ID)
	case "negative-seconds":
		write(y)
		say(`{"id":%d,"ok":true,"seconds":-1}`, c.ID)
	case "few-digests":
		write(y)
		say("%s", ok)
	case "no-file":
		say("%s", ok)
	case "missing-output":
		write()
		say("%s", ok)
	case "other-output":
		write(y, safetensors.Tensor{Name: "z", DType: "U8", Shape: []int{1}, Data: []byte{1}})
		say("%s", ok)
	case "wrong-shape":
		write(safetensors.Tensor{Name: "y", DType: "F32", Shape: []int{1, 3}, Data: value})
		say("%s", ok)
	case "wrong-dtype":
		write(safetensors.Tensor{Name: "y", DType: "I32", Shape: []int{3}, Data: value})
		say("%s", ok)
	case "oversized":
		write(safetensors.Tensor{Name: "y", DType: "F32", Shape: []int{1 << 19}, Data: make([]byte, 4<<19)})
		say("%s", ok)
	case "partial":
		write(y)
		if err := os.Truncate(c.Write, 40); err != nil {
			return 1
		}
		say("%s", ok)
	case "link":
		other := filepath.Join(filepath.Dir(c.Write), "elsewhere")
		if err := os.Symlink(other, c.Write); err != nil {
			return 1
		}
		say("%s", ok)
	case "late-line":
		write(y)
		say("%s\nkernel finished", ok)
	case "answers-and-ends":
		write(y)
		say("%s", ok)
		return 0
	case "child": // hangs with a child that holds every pipe
		child := exec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 1
		}
		time.Sleep(time.Hour)
	case "slow":
		time.Sleep(300 * time.Millisecond)
		write(y)
		say("%s", ok)
	case "noisy":
		fmt.Fprintln(os.Stderr, strings.Repeat("warning ", 1<<17))
		write(y)
		say("%s", ok)
	default:
		return honest(c)
	}
	return -1
}

// honest copies x to y, for the call and for those in the same launch.
func honest(c callLine) int {
	all := []payload{c.payload}
	for _, id := range c.BatchWith {
		all = append(all, c.Cases[id])
	}
	for _, p := range all {
		f, err := safetensors.Open(p.Inputs)
		if err != nil {
			return 1
		}
		data, err := f.Bytes("x")
		if err != nil {
			return 1
		}
		o := p.Outputs["y"]
		err = safetensors.WriteFile(p.Write, nil, safetensors.Tensor{
			Name:  "y",
			DType: safetensors.DType(o.DType),
			Shape: o.Shape,
			Data:  data,
		})
		if err != nil || f.Close() != nil {
			return 1
		}
	}
	digests, err := json.Marshal(slices.Repeat([]string{"d"}, c.Repeat))
	if err != nil {
		return 1
	}
	say(`{"id":%d,"ok":true,"seconds":0.5,"path":"fake %s%s","digests":%s}`, c.ID, c.Mode, c.CaptureWith, digests)
	return -1
}
