package format_test

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// The same block by two implementations: OCP's scale rule saturates where DeepSeek's does not.
func ExampleRecipe_Quantise() {
	x := make([]float32, 32)
	x[0], x[1] = 500, 3
	for _, name := range []string{"ocp-mxfp8", "v4-fp8"} {
		r, err := format.RecipeByName(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		q, err := r.Quantise(x, 1, len(x))
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := r.Block.Decode(q)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-9s scale 2^%d: %v becomes %v, %v becomes %v\n", name, int(q.Scales[0])-127, x[0], v[0], x[1], v[1])
	}
	// Output:
	// ocp-mxfp8 scale 2^0: 500 becomes 448, 3 becomes 3
	// v4-fp8    scale 2^1: 500 becomes 512, 3 becomes 3
}

// Where the scales of token 5 lie in a DeepSeek-V4 page of 64 tokens.
func ExampleLayout_Offset() {
	page, err := format.PageV4(64)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []int{0, 6} {
		at, _, err := page.Offset("scale", 5, e)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("scale %d at byte %d of %d\n", e, at, page.Size)
	}
	// Output:
	// scale 0 at byte 36904 of 37440
	// scale 6 at byte 36910 of 37440
}
