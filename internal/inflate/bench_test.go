package inflate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkV4Flash writes nano-flash in V4-Flash's shape, four layers, spread, and says how much memory that took at
// the most. The bars are 60 s on two cores and 2 GiB.
func BenchmarkV4Flash(b *testing.B) {
	f, err := FormatByName("fp8")
	require.NoError(b, err)
	shape, err := Lookup("v4-flash")
	require.NoError(b, err)
	var s Summary
	for b.Loop() {
		out := filepath.Join(b.TempDir(), "out")
		s, err = Run(context.Background(), Options{
			From: flash(b), FromName: "nano-flash", Out: out, Shape: shape, Format: f, Seed: 1, Words: true,
		})
		require.NoError(b, err)
		require.NoError(b, os.RemoveAll(out))
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/folder")
	b.ReportMetric(float64(s.Bytes)/(1<<20), "MiB-written")
	if peak, ok := mostResident(); ok {
		b.ReportMetric(peak, "MiB-peak")
	}
}

// mostResident is the largest resident size of this process so far, in MiB, where the system tells it.
func mostResident() (float64, bool) {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			kib, err := strconv.ParseFloat(string(f[1]), 64)
			return kib / 1024, err == nil
		}
	}
	return 0, false
}
