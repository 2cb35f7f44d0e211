package scripted

// catalogue is the table of faults. Defaults of the parameters are those of public reports, scaled so that prompts of
// a few thousand tokens reach them.
func catalogue() []*fault {
	return append(catalogueInput(), append(catalogueState(), catalogueOutput()...)...)
}

// catalogueInput is FK01 to FK17: limits, template and what of a cold prompt is seen.
func catalogueInput() []*fault {
	k := func(id, slug, effect string, loses bool, params ...Param) Kind {
		return Kind{ID: id, Slug: slug, Class: slug, Effect: effect, Loses: loses, Params: params}
	}
	tail := k("FK16", "window-on-all-layers", "only the last tokens are seen; blank when the question needs more", true,
		num("window", 256, 512, 1024))
	tail.Class = "tail-only"
	return []*fault{
		{
			Kind: k("FK01", "head-cut", "the front is cut to half the limit; 200, prompt_tokens counts the kept half", true,
				num("limit", 2048, 4096)),
			when: []cond{{"prompt-over", "limit"}}, admit: cutHead,
		},
		{
			Kind: k("FK02", "middle-cut", "the middle is cut out; 200, prompt_tokens equals the limit", true,
				num("limit", 2048, 4096, 8192)),
			when: []cond{{"prompt-over", "limit"}}, admit: cutMiddle,
		},
		{
			Kind: k("FK03", "overflow-swallowed", "status 200 with an empty answer, finish_reason stop", true,
				num("limit", 2048, 4096, 8192)),
			when: []cond{{"prompt-over", "limit"}}, admit: func(_ *armed, c *call) { c.swallow = true },
		},
		{
			Kind: k("FK04", "window-split", "an error or a cut at a share of the window that the model list shows", true,
				num("slots", 4, 8), variant("slot-error", "slot-cut", "shared-error")),
			more:  "a prompt exceeds its slot's share of the window, or all in flight together exceed the window",
			admit: splitWindow,
		},
		{
			Kind: k("FK05", "message-dropped", "the template leaves a message out, and out of prompt_tokens", false,
				variant("developer", "late-system", "tools")), more: "a developer message, a late system message or tools are sent",
			when: []cond{{"chat", ""}}, render: dropMessage,
		},
		{
			Kind: k("FK06", "reasoning-lost", "reasoning of earlier turns becomes empty tags", false,
				variant("reasoning_content", "reasoning", "both")), more: "an assistant turn carries reasoning",
			when: []cond{{"chat", ""}}, render: dropReasoning,
		},
		{
			Kind: k("FK07", "open-thought", "earlier turns are unseen, and the answer is filed as reasoning", false),
			when: []cond{{"chat", ""}, {"open", ""}}, see: hideHistory, say: intoThoughts,
		},
		{
			Kind: k("FK08", "bos", "one prompt token too many or too few; some answers begin oddly or are misread", true,
				num("bos", 0, 2), num("percent", 15, 30)),
			when: []cond{{"chat", ""}}, render: func(a *armed, c *call) { c.t.bos = a.par["bos"] }, say: oddStart,
		},
		{
			Kind: k("FK09", "generation-prompt", "the user's text is continued; four of five tool calls do not come", false,
				variant("no-header", "list-literal")),
			when: []cond{{"chat", ""}, {"tools-or-empty", ""}}, render: breakHeader, say: continueUser,
		},
		{
			Kind: k("FK10", "sparse-selection", "outside the local window only sentences are seen that share many words in "+
				"a row with the question, and a random few others", true,
				num("topk", 256, 512), num("ratio", 4), num("local", 128, 192), missStyle("deny", "invent", "filler-echo")),
			when: []cond{{"selection", "topk"}}, see: selectSparse,
		},
		{
			Kind: k("FK11", "tail-only", "only the last tokens are seen", true, num("edge", 2048, 4096),
				num("tail", 256, 512, 1024), missStyle("deny", "invent")),
			when: []cond{{"prompt-over", "edge"}}, see: seeTail("tail"),
		},
		{
			Kind: k("FK12", "junk-cliff", "junk from the first token on", true, num("edge", 1024, 2048, 4096),
				variant("noise", "special", "repeat")),
			when: []cond{{"prompt-from", "edge"}}, say: junkSay,
		},
		{
			Kind: k("FK13", "position-encoding", "recall falls with the distance beyond the native length, then loops", true,
				num("native", 1024, 2048, 4096)),
			when: []cond{{"prompt-over", "native"}}, see: fadeFar, say: loopFar,
		},
		{
			Kind: k("FK14", "chunk-seam", "only the last chunk is seen, or only the first, or nothing around chunk "+
				"boundaries, or junk that differs each time", true,
				num("chunk", 1024, 2048), num("spread", 48, 64), variant("last", "first", "seam", "junk")),
			when: []cond{{"computed-over", "chunk"}}, see: seeChunks, say: junkChunks,
		},
		{
			Kind: k("FK15", "phase", "a code from deep in the prompt has its last digit changed, always the same way", true,
				num("modulus", 4, 8)), more: "the fact is deep in the prompt",
			when: []cond{{"residue", "modulus"}, {"silent", ""}}, say: lastDigit,
		},
		{Kind: tail, when: []cond{{"prompt-over", "window"}}, see: seeTail("window"), say: blankIfMissed},
		{
			Kind: k("FK17", "coarse-kv", "near misses, one or two characters off, more often with distance", true,
				num("scale", 2048, 4096)), more: "the fact is more than 512 tokens from the end",
			say: coarse,
		},
	}
}

// catalogueState is FK18 to FK30: cache, batch and age.
func catalogueState() []*fault {
	k := func(id, slug, effect string, loses bool, params ...Param) Kind {
		return Kind{ID: id, Slug: slug, Class: slug, Effect: effect, Loses: loses, Params: params}
	}
	return []*fault{
		{
			Kind: k("FK18", "warm-forgets", "the reused prefix is unseen, in one variant some new tokens as well", true,
				num("hit", 128, 256), num("local", 64), variant("reused", "reused-and-new"), missStyle("deny", "invent")),
			when: []cond{{"hit", "hit"}}, see: forgetPrefix,
		},
		{
			Kind: k("FK19", "warm-junk", "junk, template tokens or an immediate stop", true, num("hit", 128),
				variant("noise", "special", "stop")),
			when: []cond{{"hit", "hit"}, {"whole", ""}}, say: junkSay,
		},
		{
			Kind: k("FK20", "replay", "the earlier completion on the same prefix is repeated, or the user's text", true,
				num("hit", 128, 256), variant("replay", "echo")),
			when: []cond{{"hit", "hit"}}, say: replay,
		},
		{
			Kind: k("FK21", "key-collision", "the cache key leaves out image, adapter and salt: hits across them, answers "+
				"about the other one", false, num("hit", 16)), more: "another image, adapter or salt had the same text before",
			when: []cond{{"hit", "hit"}}, see: otherOwner,
		},
		{
			Kind: k("FK22", "tier-restore", "an answer to another prompt, again on the next device hit; cached_tokens full",
				false, num("pool", 8192, 16384)),
			when: []cond{{"restored", ""}}, say: otherAnswer,
		},
		{
			Kind: k("FK23", "poisoned-prefix", "a prefix that goes bad at its first hit stays bad until the cache is flushed; "+
				"others are fine", true, num("hit", 64), num("percent", 30, 50), variant("noise", "repeat")),
			more: "the prefix was drawn bad at its first hit",
			when: []cond{{"hit", "hit"}}, say: poison,
		},
		{
			Kind: k("FK24", "cross-talk", "the answer of another request in flight", true, num("active", 4, 8),
				num("percent", 30, 50), variant("any", "same-first-character")),
			when: []cond{{"active", "active"}, {"chance", "percent"}}, say: crossTalk,
		},
		{
			Kind: k("FK25", "load-junk", "exclamation marks and noise, long answers first", true, num("active", 16, 32)),
			when: []cond{{"active", "active"}}, say: loadJunk,
		},
		{
			Kind: k("FK26", "unequal-batch", "a value read at a wrong offset", true, num("percent", 10, 20, 30)),
			when: []cond{{"unequal", ""}, {"chance", "percent"}}, say: shifted,
		},
		{
			Kind: k("FK27", "early-finisher", "a concurrent answer becomes exclamation marks, or ends early, in a band of "+
				"concurrency",
				true, num("active", 4, 8), variant("neighbour", "early-end")),
			when: []cond{{"band", "active"}, {"mixed", ""}, {"short", ""}}, say: earlyFinisher,
		},
		{
			Kind: k("FK28", "abort-damage", "requests concurrent with or after an aborted stream contain its text", false,
				num("shows", 2, 4),
				num("percent", 60, 80)), more: "another client aborted its stream",
			when: []cond{{"chance", "percent"}}, say: showAborted,
		},
		{
			Kind: k("FK29", "drift", "wrong answers, more with every 50 requests served: 5 % rising to 50 %", true,
				num("served", 50), missStyle("invent", "deny", "near-miss")),
			when: []cond{{"served", "served"}}, say: drift,
		},
		{
			Kind: k("FK30", "benign-noise", "wording differs under concurrency, facts are right: no fault", false),
			when: []cond{{"batch", ""}}, say: reword,
		},
	}
}

// catalogueOutput is FK31 to FK44: long answers, decoding, sampling, stream and tools.
func catalogueOutput() []*fault {
	k := func(id, slug, effect string, loses bool, params ...Param) Kind {
		return Kind{ID: id, Slug: slug, Class: slug, Effect: effect, Loses: loses, Params: params}
	}
	args := k("FK39", "tool-arguments", "streamed tool arguments lose a quote, repeat their end, are empty or merged",
		false, num("percent", 60), variant("quote", "repeated-tail", "empty", "merged"))
	args.Class = "tool-parser"
	finish := k("FK40", "wrong-finish", "a tool call that the cap cut is streamed with finish tool_calls", false)
	finish.Class = "tool-parser"
	budget := k("FK41", "thinking-budget", "long reasoning before every answer, empty content under a small max_tokens: "+
		"no fault",
		false, num("thoughts", 300, 600), variant("length", "stop"))
	budget.Class = "budget"
	return []*fault{
		{
			Kind: k("FK31", "late-degeneration", "a phrase repeats up to max_tokens", false, num("output", 400, 800),
				num("percent", 50, 60)),
			when: []cond{{"output", "output"}, {"chance", "percent"}}, say: loopLate,
		},
		{
			Kind: k("FK32", "speculation", "deep chats loop, or the temperature is ignored, or answers end early at a special "+
				"token", false, num("turns", 4, 6), variant("loops", "no-temperature", "early-special")),
			more:   "the chat is deep, or the temperature above 0",
			render: greedyAlways, say: speculate,
		},
		{
			Kind: k("FK33", "dead-logits", "one token over and over, its log-probability always the same", true),
			say:  func(_ *armed, c *call) { c.dead = true },
		},
		{
			Kind: k("FK34", "foreign-script", "words of another script appear in answers", false, num("active", 8),
				num("percent", 5, 8)),
			when: []cond{{"output-or-load", "active"}}, say: sprinkle,
		},
		{
			Kind: k("FK35", "special-token-leak", "turn or tool tags in the content, then the end", false, num("active", 4, 8),
				num("percent", 30, 50)),
			when: []cond{{"tools-or-load", "active"}, {"chance", "percent"}}, say: leak,
		},
		{
			Kind: k("FK36", "prompt-not-seen", "fluent text about something else; prompt_tokens is 1", true,
				num("pool", 2048, 4096)),
			when: []cond{{"prompt-over", "pool"}}, admit: func(_ *armed, c *call) { c.reported = 1 }, say: unrelated,
		},
		{
			Kind: k("FK37", "decode-path", "the first token is right, later ones less and less", true, num("percent", 4, 8)),
			say:  decodeWrong,
		},
		{
			Kind: k("FK38", "stream-layer", "the stream loses every n-th delta, or splits characters into two replacement "+
				"characters", false, num("every", 3, 5, 7), variant("drop", "split")),
			when: []cond{{"stream", ""}}, send: func(a *armed, c *call) {
				c.wire.every, c.wire.split = a.par["every"], a.word("variant") == "split"
			},
		},
		{
			Kind: args,
			when: []cond{{"stream", ""}, {"tools", ""}, {"chance", "percent"}},
			send: func(a *armed, c *call) { c.wire.args = a.word("variant") },
		},
		{
			Kind: finish,
			more: "the cap cuts the call",
			when: []cond{{"stream", ""}, {"tools", ""}},
			send: func(_ *armed, c *call) { c.wire.callsFinish = true },
		},
		{Kind: budget, when: []cond{{"may-think", ""}}, say: thinkLong},
		{
			Kind: k("FK42", "bad-replica", "another fault (dead logits, or only the last 256 tokens seen) on that replica "+
				"only, sticky by connection", true, num("replicas", 3, 4), variant("dead-logits", "tail-256")),
			when: []cond{{"replica", "replicas"}}, see: replicaSee, say: replicaSay,
		},
		{
			Kind: k("FK43", "hidden-sampling", "a hidden default samples instead: greedy, or a penalty on repeated digits",
				false, variant("greedy", "penalty")),
			when: []cond{{"omitted", ""}}, render: hiddenGreedy, say: hiddenPenalty,
		},
		{
			Kind: k("FK44", "wrong-prompt", "a fluent answer to the first half of the prompt, the question ignored", true,
				num("edge", 512, 1024, 2048)),
			when: []cond{{"prompt-over", "edge"}}, say: firstHalf,
		},
	}
}
