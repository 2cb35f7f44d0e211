package fidelity_test

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity"
)

// An endpoint where nobody listens: the code says so, and nothing is judged.
func ExampleRun() {
	r, err := fidelity.Run(context.Background(), fidelity.Config{BaseURL: "http://127.0.0.1:9/v1", Budget: "smoke"})
	fmt.Println(r.Code, r.Cells, err != nil)
	// Output: 4 0 true
}
