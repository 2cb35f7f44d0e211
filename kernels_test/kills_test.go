package kernels_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
)

// killID is the golden key of a plant under a contract.
func killID(plant, contract string) string {
	return fmt.Sprintf("kernels/mhc-kill/%s/%s", plant, contract)
}

// home is the contract under which a plant runs by default; under the others it runs with ASSAY_BUDGET=full.
func home(p kernels.Plant) string {
	if p.Declared != nil {
		return p.Declared[0]
	}
	return "fp32"
}

// Every planted fault MUST be rejected by at least two cases, each by the gate that the golden names.
func TestMHCKills(t *testing.T) {
	plants, err := kernels.Plants()
	require.NoError(t, err)
	budget, _ := suite.Value("ASSAY_BUDGET")
	cases := kernels.Cases()
	gates := make([]map[string]string, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			var here []kernels.Plant
			for _, p := range plants {
				if p.Concerns(c) && (budget == "full" || home(p) == c.Contract.Name) {
					here = append(here, p)
				}
			}
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				got, err := kernels.Kill(t.Context(), c, here)
				require.NoError(t, err)
				gates[i] = got
			})
		}
	})
	if t.Failed() {
		return
	}
	var table []kernels.Kills
	doc := golden.Doc{Provenance: provenance("TestMHCKills"), Cases: map[string]any{}}
	var ids []string
	for _, p := range plants {
		for _, contract := range []string{"fp32", "tf32-rn", "bf16"} {
			k := kernels.Kills{Plant: p, Contract: contract, Gates: map[string]string{}}
			possible := false
			for i, c := range cases {
				possible = possible || p.Concerns(c) && c.Contract.Name == contract
				if g, ran := gates[i][p.Name]; ran && c.Contract.Name == contract {
					k.Gates[strings.TrimPrefix(c.ID, "kernels/")] = g
				}
			}
			if possible {
				ids = append(ids, killID(p.Name, contract))
			}
			if len(k.Gates) == 0 {
				continue
			}
			table = append(table, k)
			doc.Cases[killID(p.Name, contract)] = killed(k)
			if n := k.Killed(); n < 2 && home(p) == contract {
				t.Errorf("fault %s (%s) is rejected by %d of %d cases, want at least 2", p.Name, p.Effect, n, len(k.Gates))
			}
		}
	}
	t.Log("fault, contract, cases that reject it, gates\n" + kernels.Table(table))
	golden.Assert(t, "kernels/mhc-kill", doc, golden.All(golden.Count("the candidates are deterministic")))
	golden.Orphans(t, "kernels/mhc-kill", ids)
}

// killed is one row of the golden: the rejecting cases by gate, and the accepting ones.
func killed(k kernels.Kills) map[string]any {
	byGate, survives := map[string][]string{}, []string{}
	for _, c := range kernels.Cases() {
		id := strings.TrimPrefix(c.ID, "kernels/")
		switch g, ran := k.Gates[id]; {
		case !ran:
		case g == "":
			survives = append(survives, id)
		default:
			byGate[g] = append(byGate[g], id)
		}
	}
	return map[string]any{"effect": k.Plant.Effect, "origin": k.Plant.Origin, "killed": k.Killed(), "ran": len(k.Gates), "killed-by": byGate, "survives": survives}
}

// The rho table MUST hold registered cases only.
func TestMHCRhoHasNoOrphans(t *testing.T) {
	golden.Orphans(t, "kernels/mhc-rho", suite.IDs(suite.Cases("kernels/")))
}
