package report

import (
	"fmt"
	"strings"
	"time"
)

// healthyRun is the newcomer's run of design/exemplars: 5 depths x 7 lengths, one
// near miss at 4,096 tokens.
func healthyRun() Run {
	depths := []string{"0.00", "0.25", "0.50", "0.75", "1.00"}
	lengths := []string{"128", "256", "512", "1024", "1536", "2048", "4096"}
	h := HeatMap{
		RowLabel: "depth", Rows: depths, ColLabel: "length in tokens", Cols: lengths,
		Recall: &Recall{Hits: 34, Of: 35, Low: 0.855, High: 0.995, Method: "Wilson, 95 %"},
	}
	for r, d := range depths {
		var row []Cell
		for c, l := range lengths {
			m := 9.5 - 0.7*float64(c) - 0.2*float64(r%3)
			cell := Cell{
				Case:   "fidelity/recall/" + l + "/" + d,
				Class:  "exact",
				State:  Exact,
				Margin: new(m),
				Golden: new(m + 0.05),
			}
			if r == 0 && c == 6 {
				cell.Class, cell.State, cell.Margin = "near-miss", NearMiss, new(-0.31)
				cell.Title = "want 841736, got 841730"
			}
			row = append(row, cell)
		}
		h.Cells = append(h.Cells, row)
	}
	return Run{
		Title:   "embedded nano-v4 (fp32)",
		Hint:    "your own server: OPENAI_BASE_URL=http://host:port go tool mage live",
		Started: time.Date(2026, 11, 29, 12, 40, 11, 0, time.UTC), Elapsed: 65 * time.Second,
		Report: "artifacts/2026-11-29T12-40-11Z/report.html",
		Identity: []Fact{
			{Label: "host", Text: "embedded"},
			{Label: "model", Text: "nano-v4"},
			{Label: "tool", Text: "assay 0.1.0, go1.26"},
			{Label: "seed", Text: "PCG, FNV of the case ID"},
		},
		Capabilities: []Capability{
			{Name: "chat", Value: "ok"},
			{Name: "completions", Value: "ok"},
			{Name: "logprobs", Value: "20"},
			{Name: "tokenize", Value: "ok"},
			{Name: "cached_tokens", Value: "ok"},
			{Name: "cache_salt", Value: "ok"},
			{Name: "window", Value: "8192"},
		},
		Plan:  []string{"35 grid cells + 20 window + 24 cache; 97k prompt tokens; about 65 s on 2 cores"},
		Grids: []HeatMap{h},
		Facts: []Fact{
			{Label: "window", Text: "tail 4/4 · just inside 4/4 · start 4/4 · repeated x8 4/4 · short 4/4"},
			{Label: "cache", Text: "warm = cold (hits proven 12/12)"},
			{Label: "golden", Text: "held: 0 lost, 0 won of 79 pairs"},
		},
		Tables: []Table{{
			Title: "recall by length", Head: []string{"length", "hits", "of", "median margin"},
			Rows: [][]string{{"128", "5", "5", "9.40"}, {"4096", "4", "5", "5.10"}}, Note: "margins in nats",
		}},
		Findings: []Finding{sampleFinding("fidelity/recall/4096/0.00", "near-miss", NearMiss, "841730", 90)},
		Cases: []Case{
			{ID: "fidelity/recall/128/0.00", Outcome: Pass, Seconds: 0.2, Claim: "the needle MUST be answered exactly"},
			{
				ID:      "fidelity/recall/4096/0.00",
				Outcome: Fail,
				Seconds: 2.5,
				Type:    "near-miss",
				Message: "want 841736, got 841730",
				Text:    "margin -0.31 nats at digit 6",
			},
			{ID: "fidelity/cache/warm", Outcome: Skip, Message: "no cached_tokens"},
			{ID: "fidelity/cache/flush", Outcome: NotMeasured, Message: "needs ASSAY_DISRUPT=1"},
			{ID: "fidelity/window/tail", Outcome: Error, Message: "connection reset"},
		},
		Verdict: Verdict{Code: 0, Text: "no fault found"},
	}
}

func sampleFinding(id, class string, state State, answer string, sentences int) Finding {
	text := strings.Repeat("The Rays which differ in Refrangibility differ also in Reflexibility. ", sentences)
	return Finding{
		Case: id, Class: class, State: state,
		Claim: "the needle MUST be answered exactly at every depth", Got: answer, Expected: "841736",
		Shape: "1 of 35 cells, last digit only", Likely: "coarse KV   (rivals: tie at the last digit)",
		Prompt:  text + "The magic number of Corvin is 841736. " + text + "What is the magic number of Corvin?",
		Answer:  answer,
		Request: "artifacts/run/requests/0042.json",
		Curl: "curl -sS http://127.0.0.1:8088/v1/completions -H 'Content-Type: application/json' -d " +
			"@artifacts/run/requests/0042.json",
		Again: "go test ./fidelity -count=1 -run '^TestRecall$/^4096$/^0.00$'",
		Margins: []Margin{
			{"8", 6.4, new(6.5)},
			{"4", 5.1, new(5.2)},
			{"1", 4.4, new(4.4)},
			{"7", 7.0, new(7.1)},
			{"3", 3.3, new(3.2)},
			{"6", -0.31, new(1.2)},
		},
	}
}

// failingRun is a fault beyond 256 tokens: the far cells are lost.
func failingRun() Run {
	r := healthyRun()
	r.Findings, r.Cases = nil, nil
	h := &r.Grids[0]
	h.Recall = &Recall{Hits: 11, Of: 34, Low: 0.191, High: 0.492, Method: "Wilson, 95 %"}
	for i := range h.Rows {
		for j := range h.Cols {
			c := &h.Cells[i][j]
			if i == 4 && j == 6 {
				*c = Cell{Case: c.Case, Class: "unmeasured", State: Unmeasured, Title: "the server gave up after 3 tries"}
				continue
			}
			if j < 2 || i == 4 {
				c.State, c.Class, c.Title = Exact, "exact", ""
				if c.Margin != nil {
					c.Margin = new(9.4 - 0.6*float64(j))
				}
				continue
			}
			c.State, c.Class = Lost, []string{"invented", "other-needle", "denial"}[(i+j)%3]
			c.Margin = new(-2.5 - 0.8*float64((i*j)%4))
			f := sampleFinding(c.Case, c.Class, Lost, fmt.Sprintf("%06d", 104729*(i+j)), 20*j)
			f.Shape, f.Likely = "23 of 23 cells beyond 256 tokens, tail copies survive",
				"sparse far path   (rivals: sliding window on all layers)"
			r.Findings = append(r.Findings, f)
			r.Cases = append(r.Cases, Case{ID: c.Case, Outcome: Fail, Type: c.Class, Message: "want 841736, got " + f.Got})
		}
	}
	r.Facts = []Fact{
		{Label: "window", Text: "tail 4/4 · just inside 0/4 · start 0/4 · repeated x8 4/4 · short 4/4"},
		{Label: "diagnosis", Text: "sparse far path: selection or its scores", Sub: []Fact{
			{
				Label: "evidence",
				Text: "cliff 2,048 ± 16 = index_topk 512 x ratio 4 · tail 8/8 · repeated x8 8/8 · verbatim cue 8/8, " +
					"paraphrase 0/8\n" +
					"prompt_tokens exact · cold = warm · alone = 4 at once · no mod-4 pattern",
			},
			{Label: "rivals", Text: "sliding window on all layers (excluded by x8 without a tail copy)"},
			{
				Label: "next",
				Text: "SGLang: --enable-return-indexer-topk, then see whether the needle's block is selected; or bf16 index " +
					"keys for one run",
			},
		}},
		{
			Label: "suspects",
			Text: "mhc-bf16 cleared (numerics: recall unchanged, rho 0.4 under tf32) · mma-decode not exercised in prefill " +
				"· triton-indexer implicated (extend phase)",
		},
	}
	r.Capabilities = append(r.Capabilities, Capability{Name: "cache_salt", Value: "ignored", Missing: true})
	r.Verdict = Verdict{Code: 1, Text: "REGRESSED  far recall: 40 of 40 lost (golden 40/40), p < 1e-9"}
	return r
}
