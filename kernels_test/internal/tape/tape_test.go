package tape_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
	"github.com/assay-suite/assay/kernels_test/norm"
)

// recorded judges a candidate by a case with a recorder in between, and makes a tape of the row.
func recorded(t *testing.T, c bench.Case, under bench.Candidate) (tape.Tape, bench.Report) {
	t.Helper()
	b, err := bench.New(c)
	require.NoError(t, err)
	r := &tape.Recorder{Under: under}
	r.Begin()
	report, err := b.Judge(t.Context(), r)
	require.NoError(t, err)
	answers, _ := r.Taken()
	require.NotEmpty(t, answers)
	built, err := norm.Suite().Built(c.Contract.Name)
	require.NoError(t, err)
	vouched, err := tape.Vouch(t.Context(), c, built)
	require.NoError(t, err)
	require.NotEmpty(t, vouched.By)
	row := tape.Row{
		Case: c.ID, Op: c.Family.Op, Contract: c.Contract.Name, Accepted: report.Accepted(), Gate: report.Gate(),
		Rho: report.Rho(), Vouched: vouched, Answers: answers,
	}
	return tape.Tape{Worker: "one", Device: "none", Rows: []tape.Row{row}}, report
}

func small(t *testing.T) bench.Case {
	t.Helper()
	for _, c := range norm.Suite().Cases() {
		if c.Family.Op == "rms_norm" && c.Contract.Name == "fp32" && len(c.Shape.Dims) > 0 && c.Scenario.Relate == nil {
			return c
		}
	}
	t.Fatal("no case")
	return bench.Case{}
}

// A tape MUST bring the judge to the verdict that it gave on the device, for a correct kernel and for a planted fault.
func TestReplayGivesTheSameVerdict(t *testing.T) {
	c := small(t)
	built, err := norm.Suite().Built("fp32")
	require.NoError(t, err)
	var broken bench.Candidate
	for _, p := range norm.Suite().Plants {
		if broken == nil && p.Concerns(c) {
			candidate, err := p.Build("fp32")
			require.NoError(t, err)
			b, err := bench.New(c)
			require.NoError(t, err)
			if r, err := b.Judge(t.Context(), candidate); err == nil && !r.Accepted() {
				broken = candidate
			}
		}
	}
	require.NotNil(t, broken)
	for name, under := range map[string]bench.Candidate{"correct": built, "planted": broken} {
		t.Run(name, func(t *testing.T) {
			written, report := recorded(t, c, under)
			dir := t.TempDir()
			file, err := written.Write(dir)
			require.NoError(t, err)
			read, err := tape.Read(os.DirFS(dir), filepath.Base(file))
			require.NoError(t, err)
			b, err := bench.New(c)
			require.NoError(t, err)
			again, err := b.Judge(t.Context(), read.Replay(read.Rows[0]))
			require.NoError(t, err)
			assert.Equal(t, name == "correct", again.Accepted())
			assert.Equal(t, report.Gate(), again.Gate())
			assert.Equal(t, report.Rho(), again.Rho())
		})
	}
}

// A case that asks for something else than was recorded MUST be stale, not judged.
func TestOtherInputsAreStale(t *testing.T) {
	c := small(t)
	built, err := norm.Suite().Built("fp32")
	require.NoError(t, err)
	written, _ := recorded(t, c, built)
	b, err := bench.New(c)
	require.NoError(t, err)
	call := b.Call()
	for name, s := range call.Storage {
		if len(s.Data) > 0 {
			s.Data[0]++
			call.Storage[name] = s
			break
		}
	}
	_, err = written.Replay(written.Rows[0]).Run(context.Background(), call)
	assert.ErrorIs(t, err, tape.ErrStale)
	player := written.Replay(written.Rows[0])
	first, err := player.Run(context.Background(), b.Call())
	require.NoError(t, err)
	for range 2 * len(written.Rows[0].Answers) { // asked again more often than when it was recorded
		again, err := player.Run(context.Background(), b.Call())
		require.NoError(t, err)
		assert.Equal(t, first, again)
	}
}

// A damaged tape MUST be refused with its name.
func TestDamagedTapes(t *testing.T) {
	dir := t.TempDir()
	name, err := tape.Tape{Worker: "one"}.Write(dir)
	require.NoError(t, err)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, raw[:len(raw)/2], 0o600))
	_, err = tape.Read(os.DirFS(dir), "one.json.gz")
	require.ErrorContains(t, err, "one.json.gz")
	require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
	_, err = tape.Read(os.DirFS(dir), "one.json.gz")
	require.ErrorContains(t, err, "not gzip")
}
