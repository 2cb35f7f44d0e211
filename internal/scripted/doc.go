// Package scripted simulates a serving engine without a model: an OpenAI-compatible http.Handler that reads the prompt
// and answers from the text that it can see, and 44 catalogued faults of real engines that hide text from it or damage
// its cache, batch or stream.
//
// The model is view(request, state) -> visible text. Without a fault everything is visible and the oracle answers
// every question of the probes: facts, several facts, n-th mentions, counts, copies, sums, plans kept in reasoning,
// tool calls, long lists. A fault is a trigger (conditions over prompt, cache, batch and age, as data) and an effect;
// its parameters are drawn from the seed. Faults combine freely, each drawing from a stream of its own.
//
// Claimed: answers are a function of seed, request and the order of requests (under concurrency: of who overlaps
// whom); a fault shows only when its trigger holds; token counts are exact and stated. Not claimed: that a fault has
// the cause that it is named after, any likeness in speed (see Options.Pace), or language beyond the probes' own.
//
// One token is a run of letters, a digit, or any other character that is no blank; blanks before it belong to it.
package scripted
