package needle

import "slices"

// Landmarks returns the pairs of building and city that the kind Gap draws from.
func Landmarks() [][2]string { return slices.Clone(landmarks) }
