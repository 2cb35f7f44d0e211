// Package checkpoint is the doctor of weights on disk: it examines a safetensors checkpoint without
// running it and says in sentences what is wrong, with which tensor, and what to do.
//
// Claimed: index and shards are held against each other both ways; names, shapes, dtypes and counts
// against config.json for the V4 and V3.2 families in their original, Hugging Face and SGLang / ModelOpt
// spellings; every byte is looked at for NaN, infinity, all-zero and constant tensors; every stored
// scale for sign, finiteness and shape; the conventions that stored values must obey (block maxima near
// the top code, one global scale for gate and up, routing tables in range). Bytes are streamed: the
// resident size is a few buffers and the largest expert, not the checkpoint.
//
// Findings have three severities. An error contradicts the format, the config or the checkpoint itself.
// A suspect is statistical: a tensor that differs from its peers in the same checkpoint by far more than
// they differ among themselves; its sentence states the number and the baseline. A note only informs.
//
// Not claimed: that the weights are good. A permutation that keeps all statistics cannot be seen in the
// checkpoint alone: two whole experts exchanged, a transposed comb matrix, block scales of the wrong
// block where rows are alike, block-scaled gate and up exchanged where they are too alike for the stated
// risk. Options.Base, another checkpoint of the same model, finds these: every value must lie within half
// a quantisation step of the base, and what does not is diagnosed by name.
//
// Packed fp4 codes have no NaN: the class scan reads them all but has its answer at the first two that
// differ. The statistics behind suspects were tried on nano-v4 and on noise only; in a checkpoint that does
// not follow the laws they rest on they are skipped, and Report.Skipped says so.
package checkpoint
