package needle_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/needle"
)

// pinned are SHA-256 of prompts as recorded goldens hold them: a golden pairs by the hash of the
// prompt, so a change here throws away every golden in the field.
var pinned = []struct {
	spec needle.Spec
	want string
}{
	{needle.Spec{Case: "fidelity/recall/a", Length: 256, Depth: 0.5}, "2a8ceeb4665da7e5"},
	{needle.Spec{Case: "fidelity/recall/b", Length: 1024, Depth: 0, Seed: 3}, "4a8964c421e99ea2"},
	{needle.Spec{Case: "fidelity/recall/c", Length: 4096, Depth: 1, Nonce: "salt"}, "bd6f057bac2e5b50"},
	{needle.Spec{Case: "fidelity/others", Length: 900, Depth: 0.5, Others: 5}, "77d4618b4b09d913"},
	{needle.Spec{Case: "fidelity/tail", Length: 512, Placement: needle.Tail, Form: needle.FormPlain}, "00a33594693fbb76"},
	{needle.Spec{Case: "fidelity/inside", Length: 2048, Placement: needle.JustInside, Window: 128}, "f358ca6101f5b0dc"},
	{needle.Spec{Case: "fidelity/start", Length: 32_768, Placement: needle.Start}, "218b7d7dc217e96c"},
	{needle.Spec{Case: "fidelity/spread", Length: 700, Placement: needle.Spread, Repeat: 4}, "362bbb3c59f4ccfc"},
	{needle.Spec{Case: "fidelity/own", Length: 300, Name: "Lisbon", Code: "48213"}, "c2a0fa0319965b01"},
}

func TestPromptsStayAsTheyWereRecorded(t *testing.T) {
	h := opticks(t)
	for want, b := range map[string]needle.Builder{
		"648e3937ebfaf34b": {Haystack: h, Count: wordCount, Bucket: bucket},
		"7c3d0c63df438974": {Haystack: h, Count: pairCount},
	} {
		all := sha256.New()
		for _, p := range pinned {
			got, err := b.Build(t.Context(), p.spec)
			require.NoError(t, err)
			sum := sha256.Sum256([]byte(got.Text))
			all.Write(sum[:])
			if b.Bucket != nil && hex.EncodeToString(sum[:])[:16] != p.want {
				t.Errorf("%s: the prompt has sha256 %x..., want %s...", p.spec.Case, sum[:8], p.want)
			}
		}
		if got := hex.EncodeToString(all.Sum(nil)[:8]); got != want {
			t.Errorf("all prompts together have sha256 %s..., want %s...", got, want)
		}
	}
}
