package faults

import "fmt"

// What can kill a row of the catalogue.
const (
	Output     = "output"      // a function of one operator's inputs and outputs: a kernel case
	StateModel = "state-model" // a model of state or addresses (oracle/faults/state)
	DeviceOnly = "device-only" // a device, with instrumented timing
)

// Row is one public bug.
type Row struct {
	ID       string // letter code: appears in catches and documents only
	Slug     string // the plant's name
	Suite    string // the suite that kills it; state for models
	KilledBy string
	Class    string // what a diagnosis should name
	Origin   string // public issue or source
	Effect   string // one sentence
}

// ByRow finds a row by its letter code. An unknown one is an error, so that a plant cannot claim a row that is not
// there.
func ByRow(id string) (Row, error) {
	for _, r := range Catalogue() {
		if r.ID == id {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("no row of the fault catalogue is called %q (oracle/faults/rows_*.go)", id)
}

// Classes are the answers that a diagnosis can give, with what each means.
func Classes() map[string]string {
	return map[string]string{
		"accumulation":      "sums are narrower, more truncated or of coarser operands than declared",
		"address":           "an address leaves its integer width or its buffer",
		"batch":             "a row's result depends on what is computed beside it",
		"chunk-state":       "what a chunk needs of earlier ones is missing or stale",
		"dispatch":          "another kernel ran than the one meant",
		"empty-row":         "rows, tiles or states without keys give NaN or garbage",
		"encoding":          "stored bits are read or rounded as another format",
		"eps":               "an eps is missing, doubled or in another place",
		"gate":              "a gate or activation is another function than declared",
		"graph":             "what was captured is replayed for other shapes",
		"input-overwritten": "the call writes into its inputs",
		"layout":            "dimensions of an operand are swapped or packed otherwise",
		"loading":           "a tensor or scale of the checkpoint went to another place or nowhere",
		"log-base":          "base 2 and base e of a log-sum-exp are confused",
		"mask-edge":         "a causal or window mask is off by one or more keys",
		"nan":               "a NaN is lost on its way, or reaches results that do not depend on it",
		"offset":            "a constant is added",
		"paging":            "page table, page size or slot are taken for something else",
		"pairing":           "rotary dimensions are paired otherwise",
		"prefix-cache":      "the prefix cache serves what is not the prefix",
		"race":              "the result depends on timing",
		"scale":             "a factor is missing, doubled, inverted or applied in the wrong place",
		"scale-layout":      "the right scales go to the wrong blocks",
		"selection":         "the chosen keys or experts are not the best ones",
		"speculative":       "rows of rejected drafts survive",
		"split":             "partial results of splits or chunks are combined wrongly",
		"strides":           "strides or offsets of an operand are not those of its view",
		"tile":              "tiles of some size or position are wrong",
		"unread-memory":     "memory is read that holds nothing of this call",
		"unwritten":         "elements of the output are never written",
		"variant":           "another published variant of the operator runs",
	}
}
