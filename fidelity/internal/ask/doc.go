// Package ask is how every job of fidelity puts questions to a server: it counts tokens as the server does, keeps a
// bounded number of questions in flight, and asks once more where reasoning took the whole budget of an answer.
package ask

// AnswerTokens is max_tokens of a first attempt, RetryFactor what the one retry gets: public reports of needles lost at
// a cap of 260 were all found at 600. It costs nothing where the model stops by itself.
const (
	AnswerTokens = 256
	RetryFactor  = 4
)
