package report

import "math"

// fullRun is the failing run of a live server with every part that a report can have.
func fullRun() Run {
	r := failingRun()
	r.Facts, r.Findings = r.Facts[:1], r.Findings[:2]
	r.Diagnosis = &Diagnosis{
		Verdict: "fault", Text: "sparse-selection",
		Classes: []Class{
			{
				Name: "sparse-selection", Says: "needles further back than the window are lost beyond 2,048 tokens, and found " +
					"when their block is among the last",
				Grade: "likely", Runs: 48, Arms: 5, P: 1.2e-7,
				Evidence: []string{
					"cliff 2,048 ± 16 = top-k 512 x ratio 4", "tail 8/8 · repeated x8 8/8 · paraphrase 0/8",
					"prompt_tokens exact · cold = warm",
				},
				Rivals: []string{"tail-only", "junk-cliff"}, Splitter: "ask for the selected blocks",
				Flags: []Flag{
					{"SGLang", "--enable-return-indexer-topk", true},
					{"vLLM", "VLLM_ATTENTION_BACKEND=FLASHMLA", false},
					{Engine: "llama.cpp"},
				},
			},
			{Name: "budget", Says: "thoughts eat a third of the answer's tokens", Grade: "firm", Runs: 12, Note: true},
		},
		Unmeasured: []string{"replicas: one URL only", "soak: needs ASSAY_DISRUPT=1"},
	}
	r.Suspects = []Suspect{
		{
			Name:     "mhc-bf16",
			Operator: "mhc_pre",
			Phases:   []string{"prefill", "decode"},
			State:    Cleared,
			Evidence: []string{"kernels: equivalent in 24 cases, prefill", "numerics: 6 rows within their bounds"},
			Next:     "MHC_BF16=0",
		},
		{
			Name:     "mma-decode",
			Operator: "sparse_attention",
			Phases:   []string{"decode"},
			State:    NotExercised,
			Evidence: []string{"kernels: no case ran, decode"},
			Next:     "SPARSE_MMA=0",
		},
		{
			Name:     "stock sparse selection",
			Operator: "topk, indexer_logits",
			Stock:    true,
			State:    Implicated,
			Evidence: []string{"live: sparse-selection (likely)"},
		},
	}
	r.Cliffs = []Cliff{{
		Rates: []Rate{
			{At: 512, Hits: 8, Of: 8, Low: 0.676, High: 1},
			{At: 1024, Hits: 8, Of: 8, Low: 0.676, High: 1},
			{At: 2032, Hits: 7, Of: 8, Low: 0.529, High: 0.978},
			{At: 2064, Hits: 1, Of: 8, Low: 0.022, High: 0.471, Unmeasured: 1},
			{At: 4096, Of: 8, Low: 0, High: 0.324},
		},
		Edge: &Edge{At: 2048, PlusMinus: 16},
		Causes: []Cause{
			{2048, "top-k 512 x ratio 4 as configured: sparse selection"},
			{2048, "a prefill step of 2048"},
			{0, "half of a context that nobody told"},
		},
		Note: "intervals: Wilson, 95 %",
	}}
	r.Charts = []Chart{{
		Title: "margins along a long answer", XLabel: "token of the answer", YLabel: "margin, nats",
		Series: []Series{
			{"this run", []Point{{X: 1, Y: 9}, {X: 100, Y: 8.5}, {X: 200, Y: 4}, {X: 300, Y: math.Inf(-1)}}},
			{"golden", []Point{{X: 1, Y: 9.1}, {X: 100, Y: 8.8, Low: new(8.0), High: new(9.0)}, {X: 200, Y: 8.9}}},
		},
	}}
	r.Pairs = []Pairs{
		{
			Title:  "cold and warm",
			First:  "cold",
			Second: "warm",
			Note:   "a hit of the cache loses what a miss finds",
			Rows: []Pair{
				{"fidelity/cache/0", Side{"exact", Exact}, Side{"exact", Exact}, "1,920 of 2,048 tokens cached", true},
				{"fidelity/cache/1", Side{"exact", Exact}, Side{"denial", Lost}, "1,920 of 2,048 tokens cached", true},
				{"fidelity/cache/2", Side{"denial", Lost}, Side{"denial", Lost}, "", false},
				{"fidelity/cache/3", Side{"exact", Exact}, Side{"error", Unmeasured}, "", false},
			},
		},
	}
	r.Ladders = []Ladder{{
		Title: "concurrency", StepLabel: "clients at once", Steps: []string{"1", "2", "4"},
		Note: "each rung asks all its clients at one moment",
		Arms: []LadderArm{
			{
				"unique, unequal, short", []Rate{
					{At: 1, Hits: 4, Of: 4, Low: 0.51, High: 1},
					{At: 2, Hits: 8, Of: 8},
					{At: 4, Hits: 9, Of: 16},
				},
			},
			{"shared, equal, long", []Rate{{At: 1, Hits: 4, Of: 4}, {At: 2, Of: 8, Unmeasured: 2}}},
		},
	}}
	r.Tokens = []Tokens{{Title: "token accounting", Note: "built: counted by the server's own tokenizer", Rows: []TokenRow{
		{Name: "plain", Built: new(1024), Reported: new(1024), Cached: new(0), Completion: new(6)},
		{Name: "tool call", Built: new(1300), Reported: new(1277), Note: "the tool's result is dropped", Wrong: true},
	}}}
	r.Evidence = []Evidence{
		{Probe: "length", Says: "recall by length of the prompt", Arms: []Arm{
			{
				Name:    "far-4096",
				Rate:    Rate{At: 4096, Of: 8, High: 0.324},
				Classes: "denial 6, invented 2",
				Shows:   []string{"There is no magic number in the text."},
			},
			{Name: "tail-4096", Rate: Rate{At: 4096, Hits: 8, Of: 8}, Classes: "exact 8"},
		}, Facts: []Fact{{Label: "edge", Text: "2048"}}},
		{Probe: "soak", LeftOut: "needs ASSAY_DISRUPT=1"},
	}
	r.Exchanges = []Exchange{{
		Case: "fidelity/recall/4096/0.00", Status: "200", Path: "artifacts/run/requests/0042.json",
		Request:  `{"model":"m","messages":[{"role":"user","content":"What is the magic number?"}]}`,
		Response: "data: {\"choices\":[]}\n\ndata: [DONE]\n",
		Curl:     "curl -sS http://127.0.0.1:8088/v1/chat/completions -d @artifacts/run/requests/0042.json",
	}}
	r.Grids[0].Cells[0][2].Class, r.Grids[0].Cells[0][2].State = "partial", Partial
	r.Capabilities[0].Detail = "POST /v1/chat/completions answered 200"
	return r
}

// kernelsRun is a run of kernel suites with residual pictures, one of them wide.
func kernelsRun() Run {
	picture := func(rows, cols, period int) Picture {
		p := Picture{
			Title:    "out",
			RowLabel: "query",
			ColLabel: "head dim",
			Caption:  "largest 31 times the bound; every second tile",
		}
		for i := range rows {
			var row []float64
			for j := range cols {
				v := 0.2
				if (i/period+j/period)%2 == 1 {
					v = 31
				}
				row = append(row, v)
			}
			p.Values = append(p.Values, row)
		}
		return p
	}
	f := Finding{
		Case: "kernels/sparse-attention/decode/page-64", Class: "output", State: Lost,
		Claim: "the output MUST equal the oracle within the bound",
		Got:   "rho 31 at [3, 8]", Expected: "rho at most 1", Likely: "page stride   (rivals: split-K merge)",
		Repro:    "python3 artifacts/run/0001/repro.py",
		Pictures: []Picture{picture(12, 16, 4), picture(8, 160, 8)},
	}
	return Run{
		Title: "candidate numpy", Verdict: Verdict{Code: 1, Text: "1 of 600 cases differs"}, Findings: []Finding{f},
		Tables: []Table{{
			Title: "operators", Head: []string{
				"operator", "phase", "cases", "worst rho", "ratio", "us", "GB/s", "verdict", "cause",
			},
			Rows: [][]string{
				{"sparse_attention", "decode", "24", "31.0", "12.1", "18.2", "1410", "differs", "page stride"},
				{"topk", "prefill", "40", "0", "0", "", "", "equivalent", ""},
			},
		}},
		Cases: []Case{{ID: f.Case, Outcome: Fail, Message: "rho 31"}},
	}
}
