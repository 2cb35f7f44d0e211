package diagnosis

import (
	"github.com/assay-suite/assay/fidelity/evidence"
)

// chunkWarm asks whether a hit cures: the reused part was computed in other chunks, or not at all.
func chunkWarm(r *reading) answer {
	cold := r.arms("cold", evidence.Warm, "cold", "first-changed")
	warm := r.arms("warm", evidence.Warm, "warm1", "warm2", "warm3")
	a := worse(warm, cold)
	if cold.runs >= 4 && cold.rate() >= 0.9 {
		a.state = unknown // short of the edge: nothing to cure
	}
	return a
}
