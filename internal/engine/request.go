package engine

// request is one generation on its way through a rank.
type request struct {
	m         *machine
	prompt    []int32
	images    []uint64 // hashes of the pictures in the prompt, part of every cache key
	salt      uint64
	most      int // tokens to generate
	temp      float64
	topP      float64
	seed      uint64
	chosen    []int // blocks of the sparse selection
	chosenFor uint64
	logprobs  int // alternatives wanted, -1 none
	eos       bool
	stops     []string
	score     bool // log-probabilities of the prompt are wanted
	raw       bool // a text completion

	table     []int32
	hit       int // tokens taken from the prefix cache
	restored  int // of them from the host tier
	goal      int // tokens to prefill: the prompt, and after a preemption the answer so far
	computed  int // tokens with a row
	chunk     int // where the last prefill chunk began
	slot      int // in the batch, -1 outside
	gen       []int32
	out       []emitted // what the detokeniser has been given
	promptLP  []emitted
	mind      mind      // the reader's state
	want      []float32 // of the sparse selection
	finish    string
	err       error
	done      bool
	preempted bool
	decoded   int     // decode steps
	nonce     uint64  // differs from request to request
	arrived   int     // requests that the rank had admitted before
	began     float64 // busy seconds of the rank when it was admitted
	resent    bool    // the first attempt was given up and its tokens were sent
}

// emitted is a generated token with its log-probability and the best alternatives.
type emitted struct {
	tok int32
	lp  float64
	top []alt
}

type alt struct {
	tok int32
	lp  float64
}

// token is token i of prompt and answer.
func (r *request) token(i int) int32 {
	if i < len(r.prompt) {
		return r.prompt[i]
	}
	if i -= len(r.prompt); i < len(r.gen) {
		return r.gen[i]
	}
	return -1
}

// total is how many tokens prompt and answer have.
func (r *request) total() int { return len(r.prompt) + len(r.gen) }
