// Package probe asks an OpenAI-compatible server the questions that tell apart how an engine can lose text: 25 probes
// over length, depth, cache, batch, turns, stream and sampling, and one that reads SGLang's own selections.
//
// Claimed: the whole plan, an upper bound of requests and tokens, is known before anything is sent; prompts are a
// function of seed, nonce and case, and begin with a word of the run, so that no cache answers for another run; an
// answer that was all reasoning is asked for once more with four times the budget and is unmeasured after that; a run
// that was killed goes on at the case that was in flight, which is asked again whole under another first word; a warm
// answer counts only with proof of a hit.
//
// Not claimed: what the evidence means (fidelity/diagnosis), or that a planned token count is exact where the server
// counts no tokens. Counting requests (the server's tokenize route) are not in the plan.
package probe
