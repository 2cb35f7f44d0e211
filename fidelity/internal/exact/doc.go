// Package exact is the exact-reference mode of live: an endpoint that serves a nano model, inflated or not, is compared
// with what that model answers in float64.
//
// Claimed: expected values are those of the float64 oracle, never of a served path; what a declared number format may
// change is taken from emulated engines of that format (internal/nano/served); each phase (cold, warm, batched) and
// each part of an answer (prefill: the first digit, decode: the others) is judged by itself, by the gates of numerics
// and by the directions in which catalogued faults move the margins. What was not asked, not answered or is no
// reference under the format is counted and never a pass.
//
// Not claimed: that an engine which rounds less than the emulated ones is at fault, nor which kernel is: a direction is
// a fault whose shift looks the same. The a-priori bound is that of the emulated engines; no certain one is known for a
// whole model that selects and routes.
package exact
