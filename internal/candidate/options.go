package candidate

import "time"

// Options are the limits of a worker. A zero takes the default.
type Options struct {
	Timeout  time.Duration // for one call: 60 s
	First    time.Duration // for hello, and for the first call that a process answers, which may compile: 300 s
	Quiet    time.Duration // after a line that was printed before hello is answered: 60 s
	Grace    time.Duration // to end by itself once standard input ends: 5 s
	Attempts int           // starts in a row that may fail before nothing is started any more: 3
	Stderr   int           // bytes of standard error that are kept: 64 KiB
	Dir      string        // parent of the folder of tensor files: /dev/shm, or the system's where that does not exist
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&o.Timeout, 60*time.Second)
	set(&o.First, 300*time.Second)
	set(&o.Quiet, 60*time.Second)
	set(&o.Grace, 5*time.Second)
	if o.Attempts <= 0 {
		o.Attempts = 3
	}
	if o.Stderr <= 0 {
		o.Stderr = 64 << 10
	}
	return o
}
