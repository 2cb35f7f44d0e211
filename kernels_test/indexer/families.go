package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func raggedFamily() bench.Family {
	return bench.Family{
		Op: "indexer_logits", Slug: "indexer-logits",
		Claim: "logits MUST lie within the contract's arithmetic of Σ_h w·relu(q·k)·ks for keys in the query's range, " +
			"and MUST be -inf elsewhere where they are cleaned",
		Doc: logitsDoc, Contracts: contracts, Draw: drawRagged, Expect: expectRagged,
		Scenarios: append(raggedScenarios(), longRagged()),
		Twins:     raggedTwins(),
	}
}

func pagedFamily() bench.Family {
	return bench.Family{
		Op: "indexer_logits_paged", Slug: "indexer-logits-paged",
		Claim: "logits over paged keys MUST be those over the same contiguous keys, whatever pages hold them, and MUST NOT " +
			"depend on anything beyond a context",
		Doc: pagedDoc, Contracts: contracts, Draw: drawPaged, Expect: expectPaged,
		Scenarios: slices.Concat(pagedScenarios(), longPaged()),
		Twins:     pagedTwins(),
	}
}
