// Package inflate writes a nano model into the tensor shapes of a large one, so that an engine runs its real kernels at
// their real sizes and every log-probability is still known: the inflated model is the small one, as a function.
//
// Each axis of the model (hidden, query rank, heads, the numbers of a head, groups, experts, ...) has a map from the
// small axis to the large one. Without mixing the small axis is placed into the large one and the rest is zero. With
// it the small function is spread over all of the large axis by symmetries that are exact:
//
//	hidden, query rank, output rank   an isometry of random orthonormal columns: nothing between two linear maps (and an
//	                                  RMS norm, whose weight moves into the next matrix) sees a rotation
//	a head's unrotated numbers        each number stands in several places, with factors whose squares sum to 1
//	heads, groups, index heads,       copies, whose outputs are summed with positive factors that sum to 1
//	an expert's inner channels
//	experts                           copies in a drawn order; a token that chose an expert chooses its copies
//
// Rotated numbers stay at the frequencies that the large rotary table shares with the small one; the others are zero.
// An RMS norm sees the same mean square in both, so that its eps acts alike.
//
// Not claimed: that the engine's own arithmetic is right; that is what the inflated model is for.
package inflate
