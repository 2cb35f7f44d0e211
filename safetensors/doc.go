// Package safetensors reads the safetensors format: one file, or a checkpoint of many shards. Write writes one file.
//
// Call [OpenCheckpoint] first, for a folder, or [Open] for one file; [WriteFile] writes one.
//
// Claimed: every dtype of the format (bit-sized F4 and F6 included) is accepted; a file that breaks
// a rule of the format is refused with a *FormatError that names file, tensor and byte offset;
// nothing panics; opening reads the header only and reading a tensor reads that tensor's bytes only,
// so a 700 GB checkpoint costs its headers. Files are safe for concurrent reads.
//
// Not claimed: values are not decoded, except where the stored form is Go's own (F32, F64, integers).
// F16, BF16, fp8, fp4 and block scales are decoded by numerics/format. Checkpoints of several shards are not written.
//
// Layout, all little-endian: 8 bytes header length N (at most 100,000,000), N bytes of JSON that
// start with '{' and may end in white space, then the data without holes up to the end of the file.
// Source: huggingface/safetensors README "Format" and safetensors/src/tensor.rs (enum Dtype,
// Metadata::validate).
//
// Where this reader is stricter than the Rust one: an unknown field in an entry, a repeated field,
// a null __metadata__ and a shape whose non-zero dimensions overflow 63 bits are errors.
package safetensors
