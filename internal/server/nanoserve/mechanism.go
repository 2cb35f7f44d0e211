package nanoserve

import (
	"fmt"
	"log"
	"net/http"

	"github.com/assay-suite/assay/internal/engine"
)

// mechanismOptions are the flags of the mechanism engine.
type mechanismOptions engine.Options

// build makes the engine; a bug or sound server that is unknown is a usage sentence.
func (o mechanismOptions) build(say *log.Logger) (http.Handler, error) {
	if o.Context != 0 && o.Context < 64 {
		return nil, fmt.Errorf("-max-model-len %d is too short for the mechanism engine, want at least 64", o.Context)
	}
	e, err := engine.New(engine.Options(o))
	if err != nil {
		return nil, err
	}
	for _, line := range e.Notes() {
		say.Printf("fault %s", line)
	}
	if o.Sound != "" {
		say.Printf("sound server %s", o.Sound)
	}
	p := e.Params()
	say.Printf("mechanism engine, seed %d, as %s serves %s, context %d tokens", o.Seed, p.Server, p.Model, p.Context)
	return e, nil
}
