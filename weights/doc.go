// Package weights examines a checkpoint on disk before anybody serves it: any folder of safetensors, of any family and
// in any of the known ways of quantising, without running the model.
//
// Call Test in a test of yours, with the folder:
//
//	func TestCheckpoint(t *testing.T) { weights.Test(t, "/models/my-quantised-model") }
//
// or Examine, for a Report that says what was found, how weights are stored, and what was not looked at. `go tool mage
// weights` does the same on ASSAY_WEIGHTS with a page in artifacts/ and measures the precision-critical tensors
// besides. docs/weights.md lists the schemes, who vouched for each, and what is found.
//
// The API is v0: it may change.
package weights
