package weights_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assay-suite/assay/weights"
)

// A folder with a GGUF file is no checkpoint of safetensors, and is refused in a sentence.
func ExampleExamine() {
	dir, err := os.MkdirTemp("", "model-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "model-Q4_K_M.gguf"), []byte("GGUF"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err = weights.Examine(context.Background(), dir)
	fmt.Println(errors.Is(err, weights.ErrNoCheckpoint))

	sound, err := weights.Examine(context.Background(), filepath.Join("..", "fixtures", "nano-v4"))
	fmt.Println(err, sound.Code, sound.Verdict)
	// Output:
	// true
	// <nil> 0 no fault found
}
