package cuda

// Ptr is an address in device memory; 0 is none.
type Ptr uint64

// Handle is what the driver calls a module, a function, a stream, an event or a graph; 0 is none.
type Handle uintptr

// Device is one opened device: the part of CUDA's driver API that the worker uses. Calls come from one thread. Errors
// are *Error where the driver gave a code. Launch, Fill and Copy may report an earlier launch's failure, and Sync does.
type Device interface {
	About() About
	// Build makes a module of a source: NVRTC for .cu text, the driver for .ptx and .cubin. log is what the compiler
	// said, also of a build that succeeded.
	Build(source Source) (module Handle, log string, err error)
	Function(module Handle, entry string) (Handle, error)

	Alloc(bytes int) (Ptr, error)
	Free(p Ptr) error
	Upload(to Ptr, data []byte) error // returns when data may be reused
	Download(data []byte, from Ptr) error
	Fill(to Ptr, value byte, bytes int, stream Handle) error
	Copy(to, from Ptr, bytes int, stream Handle) error

	Stream() (Handle, error)
	Launch(l Launch, stream Handle) error
	Sync(stream Handle) error

	Capture(stream Handle) error
	EndCapture(stream Handle) (graph Handle, err error)
	Replay(graph, stream Handle) error
	DropGraph(graph Handle) error

	Event() (Handle, error)
	Record(event, stream Handle) error
	Elapsed(from, to Handle) (microseconds float64, err error)
}

// About is what a device says of itself.
type About struct {
	Name         string // "NVIDIA H200"
	Major, Minor int    // compute capability
	Driver       string // "CUDA driver 13.0"
	Compiler     string // "NVRTC 12.9"; empty where there is none
}

// Source is a file that kernels are in.
type Source struct {
	Path    string // its ending says what it is: .cu, .ptx or .cubin
	Text    []byte
	Options []string // for the compiler
	Entries []string
}

// Launch is one kernel launch with its parameters in order.
type Launch struct {
	Function    Handle
	Entry       string
	Grid, Block [3]int
	Shared      int // dynamic shared memory, bytes
	Params      []Param
}

// Param is one parameter of a kernel: the lowest Size bytes of Bits, little-endian.
type Param struct {
	Bits uint64
	Size int // 4 or 8
}
