// Command gguf writes nano-llama as a GGUF file, for llama.cpp. See gguf -h.
package main

import (
	"os"

	"github.com/assay-suite/assay/internal/gguf"
)

func main() { os.Exit(gguf.Command(os.Args[1:], os.Stdout, os.Stderr)) }
