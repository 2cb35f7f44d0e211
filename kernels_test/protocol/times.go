package protocol

// Times are how long the kernel of a call takes on its device: repeated launches of the same call from the same memory,
// each after the L2 cache was overwritten. What an adapter does around its kernel (padding, page layouts) is not in it.
type Times struct {
	Samples  []float64 `json:"samples_us"` // one a repetition, microseconds, by the device's own clock
	First    float64   `json:"first_s"`    // the first launch of the process at this call, compilation with it, seconds
	How      string    `json:"how"`        // "graph": replays of a captured graph; "events": launches from the host
	Launches int       `json:"launches"`   // marked kernels; 0: the whole function was timed, what is around it too
	Ceilings Ceilings  `json:"ceilings"`
}

// Ceilings are what the device reaches in the same process: what a kernel's rate is a share of.
type Ceilings struct {
	CopyGBs float64 `json:"copy_gbs"`    // device-to-device copy, bytes read and written, 10^9 a second
	BF16    float64 `json:"bf16_tflops"` // bf16 matrix product of random data, 10^12 floating-point operations a second
	FP8     float64 `json:"fp8_tflops"`  // the same of e4m3; 0 where it cannot be measured
}
