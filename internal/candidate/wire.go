package candidate

import "github.com/assay-suite/assay/kernels_test/protocol"

// Protocol is the version of the worker protocol that this package speaks.
const Protocol = protocol.Version

// Hello is what a worker says about itself when it is started.
type Hello = protocol.Hello

// Capability is what a worker offers of one operator.
type Capability = protocol.Capability

// The modes of a call.
const (
	Eager = "eager" // launch
	Graph = "graph" // capture once, replay
)

// Call is one request to a worker.
type Call struct {
	Op      string             // mhc_pre, indexer_logits_paged, ...
	Case    string             // ID of the case
	Mode    string             // Eager or Graph; empty is Eager
	Repeat  int                // runs of the same call, each with a digest; 0 is 1
	Time    int                // timed repetitions of the kernel after the call; 0 for none
	Attrs   map[string]any     // numbers, words and switches, in the operator's own names
	Storage map[string]Storage // inputs as they lie in memory
	Views   map[string]View    // operands inside of storages; a storage that no view names is an operand itself
	Outputs map[string]Output  //

	CaptureWith *Call  // Graph only: the case whose shorter shapes are captured first
	BatchWith   []Call // cases to run in the same launch; their outputs are in Reply.Batch
}

// Storage is a piece of memory: Data holds its elements little-endian, DType is the safetensors name.
type Storage struct {
	DType string
	Shape []int
	Data  []byte
}

// View is a tensor inside a storage: element (i, j, ...) lies at Offset + i·Strides[0] + j·Strides[1] + ..., counted
// in elements.
type View struct {
	Storage string `json:"storage"`
	Offset  int    `json:"offset"`
	Shape   []int  `json:"shape"`
	Strides []int  `json:"strides"`
}

// Output is what a worker allocates, prefills and writes. Prefill is "nan" (the pattern of NaN) or the bits of one
// element as "0x...".
type Output struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Prefill string `json:"prefill"`
}

// Reply is a worker's answer. Digests has one word for each repeat, equal where the outputs' bits are.
type Reply struct {
	Outputs map[string]Storage
	Batch   []map[string]Storage // one for each of Call.BatchWith
	Seconds float64              // of the launch, in the worker's own clock; 0 where it gave none
	Path    string               // the kernel that ran, in the worker's own words
	Digests []string
	Times   *protocol.Times // where Call.Time asked for them and the worker measures
}

// greeting is the first line to a worker, helloLine its answer.
type greeting struct {
	Op       string `json:"op"`
	Protocol int    `json:"protocol"`
}

type helloLine struct {
	Protocol int `json:"protocol"`
	Hello
}

// payload is what a call and each of its companions consist of.
type payload struct {
	Attrs   map[string]any    `json:"attrs"`
	Inputs  string            `json:"inputs"` // absolute path
	Views   map[string]View   `json:"views"`
	Outputs map[string]Output `json:"outputs"`
	Write   string            `json:"write,omitempty"` // absolute path
}

// callLine is a request. capture_with and batch_with name cases that are described in full under cases, since a worker
// that was started anew remembers nothing.
type callLine struct {
	ID     int    `json:"id"`
	Op     string `json:"op"`
	Case   string `json:"case"`
	Mode   string `json:"mode"`
	Repeat int    `json:"repeat"`
	Time   int    `json:"time,omitempty"`
	payload
	CaptureWith string             `json:"capture_with,omitempty"`
	BatchWith   []string           `json:"batch_with,omitempty"`
	Cases       map[string]payload `json:"cases,omitempty"`
}

// replyLine is the answer to a call.
type replyLine struct {
	ID      *int            `json:"id"`
	OK      *bool           `json:"ok"`
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	Seconds float64         `json:"seconds"`
	Path    string          `json:"path"`
	Digests []string        `json:"digests"`
	Times   *protocol.Times `json:"times,omitempty"`
}
