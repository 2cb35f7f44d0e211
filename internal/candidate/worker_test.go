package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mustAnswer runs an honest call and compares all of it.
func mustAnswer(t *testing.T, w *Worker, id string) {
	t.Helper()
	got, err := w.Run(t.Context(), copying(id, ""))
	require.NoError(t, err)
	want := Reply{
		Outputs: map[string]Storage{"y": FromFloat32s([]float32{1, 2, 3})},
		Seconds: 0.5, Path: "fake eager", Digests: []string{"d"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply to %q (-want +got):\n%s", id, diff)
	}
}

// Every fault of a worker MUST be an error of its kind for that case alone: the next call works.
func TestFaults(t *testing.T) {
	for do, c := range map[string]struct {
		kind Kind
		says string
	}{
		"crash":            {KindExit, "CUDA error: an illegal memory access"},
		"leave":            {KindExit, "exit status 0 before it answered"},
		"garbage":          {KindLine, `the answer is "Segmentation fault"`},
		"null":             {KindLine, `lacks "id" or "ok"`},
		"no-ok":            {KindLine, `lacks "id" or "ok"`},
		"wrong-id":         {KindID, "the answer has id 1, and the call had 2"},
		"huge-line":        {KindLine, "more than 1048576 bytes"},
		"half-line":        {KindLine, "ends in the middle of the line"},
		"close-stdout":     {KindExit, "standard output was closed"},
		"prints":           {KindLine, `"debug: launching"`},
		"failed":           {KindFailed, "out of memory"},
		"negative-seconds": {KindLine, "time cannot be negative"},
		"no-file":          {KindOutput, "no outputs were written"},
		"missing-output":   {KindOutput, `output "y" is missing`},
		"other-output":     {KindOutput, `output "z" was written and not asked for`},
		"wrong-shape":      {KindOutput, `output "y" has shape [1 3], and [3] was asked for`},
		"wrong-dtype":      {KindOutput, `output "y" has dtype "I32"`},
		"oversized":        {KindOutput, "bytes, and the outputs asked for at most"},
		"partial":          {KindOutput, "damaged"},
		"link":             {KindOutput, "no regular file"},
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			w := begin(t, "plain", Options{Timeout: patience})
			mustAnswer(t, w, "before")
			_, err := w.Run(t.Context(), copying("broken/"+do, do))
			var broken *Error
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, c.kind, broken.Kind, "%v", err)
			assert.Equal(t, "broken/"+do, broken.Case)
			assert.ErrorContains(t, err, c.says)
			assert.NotErrorIs(t, err, ErrUnsupported)
			mustAnswer(t, w, "after")
			assert.Equal(t, 1, w.Restarts())
			assert.Contains(t, w.Stderr(), "[assay: worker stopped: case \"broken/"+do)
		})
	}
}

// A call without an answer MUST end at its limit, with whatever the worker started.
func TestHang(t *testing.T) {
	for _, do := range []string{"hang", "child"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			w := begin(t, "plain", Options{Timeout: 100 * time.Millisecond, First: patience})
			mustAnswer(t, w, "before") // the first call of a process has the longer limit
			_, err := w.Run(t.Context(), copying("stuck", do))
			var broken *Error
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, KindTimeout, broken.Kind)
			assert.ErrorContains(t, err, "no answer within 100ms")
			mustAnswer(t, w, "after")
		})
	}
}

// The first call of a process may be slow, and a slow answer within the limit is an answer.
func TestSlow(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{Timeout: time.Millisecond, First: patience})
	got, err := w.Run(t.Context(), copying("compiles", "slow"))
	require.NoError(t, err)
	assert.Equal(t, "fake eager", got.Path)
	assert.Zero(t, w.Restarts())
}

// What a caller gives up is the caller's error, and the process with its owed answer is not used again.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the run was interrupted")
	go cancel(why)
	_, err := w.Run(ctx, copying("given-up", "hang"))
	require.ErrorIs(t, err, why)
	require.ErrorContains(t, err, `case "given-up"`)
	var broken *Error
	assert.NotErrorAs(t, err, &broken)
	mustAnswer(t, w, "after")
}

// Unsupported is an answer: no restart, and known without asking where hello says so.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	_, err := w.Run(t.Context(), copying("c", "unsupported"))
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, `"heads must be 32 or 64"`)
	other := copying("c", "crash")
	other.Op = "paste"
	_, err = w.Run(t.Context(), other)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, `does not list operator "paste"`)
	other.Op, other.Mode = "plain", Graph
	_, err = w.Run(t.Context(), other)
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "lists modes")
	mustAnswer(t, w, "after")
	assert.Zero(t, w.Restarts())
}

// A line too many is nobody's answer: the next call gets its own.
func TestLateLine(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	_, err := w.Run(t.Context(), copying("late", "late-line"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(w.proc.lines) > 0 }, patience, time.Millisecond)
	mustAnswer(t, w, "after")
	assert.Contains(t, w.Stderr(), `a line came that nobody asked for: "kernel finished"`)
}

// A worker that ends between two calls costs no call.
func TestEndsBetweenCalls(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	_, err := w.Run(t.Context(), copying("last", "answers-and-ends"))
	require.NoError(t, err)
	<-w.proc.done
	mustAnswer(t, w, "after")
	assert.Equal(t, 1, w.Restarts())
}

// Repeats, graph capture and companions in one launch MUST reach the worker and come back.
func TestRepeatGraphBatch(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	c := copying("long", "")
	short := copying("short", "")
	c.Mode, c.Repeat, c.CaptureWith = Graph, 3, &short
	other := copying("other", "")
	other.Storage["x"] = FromFloat32s([]float32{7, 8, 9})
	c.BatchWith = []Call{other}
	got, err := w.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "fake graphshort", got.Path)
	assert.Equal(t, []string{"d", "d", "d"}, got.Digests)
	if diff := cmp.Diff([]map[string]Storage{{"y": FromFloat32s([]float32{7, 8, 9})}}, got.Batch); diff != "" {
		t.Errorf("companion (-want +got):\n%s", diff)
	}
	c = copying("repeated", "few-digests")
	c.Repeat = 2
	_, err = w.Run(t.Context(), c)
	require.ErrorContains(t, err, "1 digests for 2 runs")
}

func TestStartRefusals(t *testing.T) {
	for how, c := range map[string]struct {
		kind Kind
		says string
	}{
		"dies":         {KindExit, "exit status 7"},
		"protocol-2":   {KindHello, "with protocol 2, and this is protocol 1"},
		"nameless":     {KindHello, `with name ""`},
		"empty":        {KindHello, "0 operators"},
		"prints-first": {KindLine, `the answer to hello is "import took 3 s"`},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := Start(t.Context(), fake(t, how), Options{Dir: dir, Quiet: 100 * time.Millisecond})
			var broken *Error
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, c.kind, broken.Kind)
			assert.ErrorContains(t, err, c.says)
			assert.Contains(t, broken.Stderr, "fake worker "+how)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
	_, err := Start(t.Context(), "/no/such/worker --fast", Options{Dir: t.TempDir()})
	var broken *Error
	require.ErrorAs(t, err, &broken)
	assert.Equal(t, KindStart, broken.Kind)
	_, err = Start(t.Context(), "worker | tee log", Options{})
	require.ErrorContains(t, err, "write sh -c")
	_, err = Start(t.Context(), "worker", Options{Dir: filepath.Join(t.TempDir(), "no", "such")})
	require.ErrorContains(t, err, "give one that is writable")
	_, err = Start(t.Context(), fake(t, "mute"), Options{Dir: t.TempDir(), First: time.Millisecond})
	require.ErrorAs(t, err, &broken)
	assert.Equal(t, KindTimeout, broken.Kind)
}

// A worker that cannot be started again MUST stop costing time after a few attempts, and one that comes back as another
// is refused.
func TestCannotBeStartedAgain(t *testing.T) {
	t.Parallel()
	line := "FAKE_MARK='" + filepath.Join(t.TempDir(), "mark") + "' " + fake(t, "once")
	w, err := Start(t.Context(), line, Options{Attempts: 2})
	require.NoError(t, err)
	_, err = w.Run(t.Context(), copying("a", "crash"))
	require.Error(t, err)
	var broken *Error
	for range 2 {
		_, err = w.Run(t.Context(), copying("b", ""))
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, KindExit, broken.Kind)
		assert.Equal(t, "b", broken.Case)
	}
	_, err = w.Run(t.Context(), copying("c", ""))
	require.ErrorContains(t, err, "2 starts in a row failed")
	require.NoError(t, w.Close())

	w, err = Start(t.Context(), fake(t, "changes"), Options{})
	require.NoError(t, err)
	_, err = w.Run(t.Context(), copying("a", "crash"))
	require.Error(t, err)
	_, err = w.Run(t.Context(), copying("b", ""))
	require.ErrorAs(t, err, &broken)
	assert.Equal(t, KindHello, broken.Kind)
	require.NoError(t, w.Close())
}

// Close MUST end the worker, whether it follows or not, and a closed worker answers with a sentence.
func TestClose(t *testing.T) {
	var broken *Error
	for how, want := range map[string]string{
		"plain": "", "stays": "still ran; it was killed", "fails-at-end": "exit status 9",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			grace := patience
			if how == "stays" {
				grace = 50 * time.Millisecond
			}
			w, err := Start(t.Context(), fake(t, how), Options{Grace: grace})
			require.NoError(t, err)
			p := w.proc
			err = w.Close()
			if want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorAs(t, err, &broken)
				assert.Equal(t, KindEnd, broken.Kind)
				assert.ErrorContains(t, err, want)
			}
			<-p.done
			require.NoDirExists(t, w.dir)
			require.NoError(t, w.Close())
			_, err = w.Run(t.Context(), copying("late", ""))
			require.ErrorContains(t, err, "the worker is closed")
		})
	}
}

// The end of Start's context MUST end the process, and the call in flight with it.
func TestLifeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Start(ctx, fake(t, "plain"), Options{})
	require.NoError(t, err)
	go cancel()
	_, err = w.Run(t.Context(), copying("in-flight", "hang"))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, w.Close())
}

// Standard error is kept with a bound, and the key of the endpoint stays here.
func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{Stderr: 1000})
	_, err := w.Run(t.Context(), copying("noisy", "noisy"))
	require.NoError(t, err)
	_, err = w.Run(t.Context(), copying("crash", "crash"))
	require.ErrorContains(t, err, "illegal memory access")
	assert.Less(t, len(w.Stderr()), 1100)
	assert.True(t, strings.HasPrefix(w.Stderr(), "["), w.Stderr())
	assert.Equal(t, []string{"A=1"}, environment([]string{"OPENAI_API_KEY=secret", "A=1"}))
}

// A call that cannot be written costs the worker nothing.
func TestCallThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := begin(t, "plain", Options{})
	c := copying("nan", "")
	c.Attrs["softmax_scale"] = math.NaN()
	_, err := w.Run(t.Context(), c)
	var value *json.UnsupportedValueError
	require.ErrorAs(t, err, &value)
	mustAnswer(t, w, "after")
	assert.Zero(t, w.Restarts())
}

// What a worker prints before it serves MUST do no harm: it is kept with its standard error.
func TestChatterBeforeHello(t *testing.T) {
	w, err := Start(t.Context(), fake(t, "prints-and-serves"), Options{Dir: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, "fake", w.Hello().Name)
	assert.Contains(t, w.Stderr(), "using device 0")
	require.NoError(t, w.Close())
}
