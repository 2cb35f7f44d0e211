package probe_test

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

// A server that forgets what it reuses: right when cold, wrong from its own cache.
func Example() {
	ctx := context.Background()
	engine, err := scripted.New(scripted.Options{Window: 4096, Faults: []string{"warm-forgets"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := endpoint.New(endpoint.Options{
		BaseURL:   "http://engine.test",
		Model:     "scripted",
		Transport: engine.Transport(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	survey, err := client.Survey(ctx, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := needle.Opticks()
	if err != nil {
		fmt.Println(err)
		return
	}
	runner, err := probe.New(probe.Options{
		Client:   client,
		Survey:   survey,
		Haystack: text,
		Budget:   probe.Smoke,
		Nonce:    "example",
		Only:     []string{evidence.Warm},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(runner.Plan().Cost())
	set, err := runner.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range set.Of(evidence.Warm) {
		fmt.Println(a.Name, a.Right, "of", a.Runs)
	}
	// Output:
	// {24 24576}
	// cold 4 of 4
	// extended 0 of 4
	// first-changed 4 of 4
	// warm1 0 of 4
	// warm2 0 of 4
	// warm3 0 of 4
}
