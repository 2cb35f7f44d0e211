// Package llama is nano-llama: the recall task and tokenizer of internal/nano in a plain Llama (grouped-query
// attention, rotary embedding in halves, RMSNorm, SwiGLU), for engines that serve no DeepSeek-V4.
//
// Claimed: the function of Hugging Face's LlamaForCausalLM on the stored weights, in float64 with the rotary table in
// fp32 as it builds it; a prompt in chunks gives the logits of one in one shot to 1e-9. Held against a forward pass in
// numpy float64 and against greedy records of transformers (fixtures/nano-llama/training/record.py).
//
// Not claimed: speed, faults, RoPE scaling, biases, tied embeddings; a config that asks for one of these is refused.
// The model answers a prompt with one needle; of several it names one, whatever the name (fixtures/README.md).
package llama
