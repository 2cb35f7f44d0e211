package exact

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano/served"
	"github.com/assay-suite/assay/internal/server"
	"github.com/assay-suite/assay/internal/suite"
)

// shaky is an engine that goes wrong by phase: states that were cloned, as those out of a prefix cache are, or steps
// beside others, are those of another model.
type shaky struct {
	server.Engine
	other           server.Engine
	cached, batched bool
	busy            *atomic.Int64
}

func (e shaky) NewState() server.State {
	return &shakyState{e: e, right: e.Engine.NewState(), wrong: e.other.NewState()}
}

type shakyState struct {
	e            shaky
	right, wrong server.State
	cloned       bool
}

func (s *shakyState) Len() int { return s.right.Len() }

func (s *shakyState) Clone() server.State {
	return &shakyState{e: s.e, right: s.right.Clone(), wrong: s.wrong.Clone(), cloned: true}
}

func (s *shakyState) Extend(ctx context.Context, ids []int, last int) ([][]float64, error) {
	beside := s.e.busy.Add(1) > 1
	defer s.e.busy.Add(-1)
	rows, err := s.right.Extend(ctx, ids, last)
	if err != nil {
		return nil, err
	}
	other, err := s.wrong.Extend(ctx, ids, last)
	if s.e.cached && s.cloned || s.e.batched && beside {
		return other, err
	}
	return rows, err
}

// A sound server MUST be held under its format, and faults that lose no needle MUST NOT, by the phase that they are in.
func TestPhases(t *testing.T) {
	m := loadNano(t, "nano-flash").Fast()
	sound, err := server.Nano(m, "nano-flash", shortWindow)
	require.NoError(t, err)
	wrong, err := server.Nano(faulty(t, m, "v-scale-1.02"), "nano-flash", shortWindow)
	require.NoError(t, err)
	f, err := served.ByName("bf16")
	require.NoError(t, err)
	bf16, err := served.New(m, f, 1000)
	require.NoError(t, err)
	narrow, err := server.Nano(bf16, "nano-flash", shortWindow)
	require.NoError(t, err)
	scaled, err := server.Nano(faulty(t, bf16, "v-scale-1.02"), "nano-flash", shortWindow)
	require.NoError(t, err)
	cached := shaky{Engine: sound, other: wrong, cached: true, busy: new(atomic.Int64)}
	batched := shaky{Engine: sound, other: wrong, batched: true, busy: new(atomic.Int64)}
	few := func(c Cell) bool { return c.Burst > 0 || c.Length < shortest+recognising }
	for _, row := range []struct {
		name, format string
		engine       server.Engine
		keep         func(Cell) bool
		phases       []Phase
		code         suite.Code
		says         string
	}{
		{"sound in fp32", "fp32", sound, few, nil, suite.Pass, "held under fp32"},
		{"out of the cache", "fp32", cached, few, nil, suite.Regression, "warm only"},
		{"in a batch", "fp32", batched, few, nil, suite.Regression, "in a batch only"},
		{"sound in bf16", "bf16", narrow, few, nil, suite.Pass, "held under bf16"},
		// Rows that were not asked are not judged, and a fault is a fault.
		{"values of 1.02 in bf16", "bf16", scaled, nil, []Phase{Cold}, suite.Regression, "go with v-scale-1.02"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := asking(t, row.engine)
			a.keep, a.phases = row.keep, row.phases
			o := run(t, a, row.format)
			t.Log(o.Fact().Text)
			for _, line := range o.Table().Rows {
				t.Log(line)
			}
			assert.Equal(t, row.code, o.Code)
			assert.Contains(t, o.Verdict, row.says)
			if row.name != "sound in bf16" {
				return
			}
			r, err := Load("nano-flash")
			require.NoError(t, err)
			o = Judge(r, o.Seen, "", "fp32")
			assert.Equal(t, suite.Regression, o.Code, "bf16 passes for fp32")
			assert.Contains(t, o.Fact().Text, "under bf16 all of it is held")
			assert.Equal(t, "bf16", Judge(r, o.Seen, "", "").Format, "the format is fitted")
			assert.Equal(t, "nvfp4", Judge(r, o.Seen, "/models/nano-flash-nvfp4", "").Format, "the name tells it")
		})
	}
}
