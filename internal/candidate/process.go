package candidate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxLine bounds one line of a worker, in bytes.
const maxLine = 1 << 20

// process is one running worker. Its goroutines end with it.
type process struct {
	stdin io.WriteCloser
	lines chan line     // closed at the end of standard output
	done  chan struct{} // closed when the process has ended
	err   error         // how it ended; read after done
	kill  func()        // ends it, and what it started; may be called twice
}

// line is one line of a worker, without its end, or why there is none.
type line struct {
	text []byte
	err  error
}

// launcher starts a worker whose standard error goes to stderr.
type launcher func(ctx context.Context, stderr io.Writer) (*process, error)

// launch starts a command. Its context ends the process.
func (c command) launch(ctx context.Context, stderr io.Writer) (*process, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = append(environment(os.Environ()), c.env...)
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second // for pipes that an escaped child holds open
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, in, err := os.Pipe() // not StdoutPipe, which Wait closes under the reader
	if err != nil {
		return nil, err
	}
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	p := newProcess(stdin, func() {
		_ = killGroup(cmd) // it may have ended already
		_ = out.Close()    // wakes the reader; an escaped child may hold the other end
	})
	_ = in.Close() // the worker has its own
	go p.read(out)
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func newProcess(stdin io.WriteCloser, kill func()) *process {
	return &process{stdin: stdin, lines: make(chan line, 4), done: make(chan struct{}), kill: kill}
}

// environment leaves out what a worker has no business with.
func environment(all []string) []string {
	var out []string
	for _, kv := range all {
		if !strings.HasPrefix(kv, "OPENAI_API_KEY=") {
			out = append(out, kv)
		}
	}
	return out
}

// read passes lines on until the output or the process ends. A line that is too long is the last.
func (p *process) read(r io.Reader) {
	defer close(p.lines)
	buffered := bufio.NewReaderSize(r, 64<<10)
	for {
		var text []byte
		for {
			part, err := buffered.ReadSlice('\n')
			text = append(text, part...)
			if len(text) > maxLine {
				p.pass(line{err: fmt.Errorf("a line has more than %d bytes and begins with %q", maxLine, start(text))})
				return
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				if len(text) > 0 {
					p.pass(line{err: fmt.Errorf("the output ends in the middle of the line %q", start(text))})
				}
				return
			}
		}
		if !p.pass(line{text: text[:len(text)-1]}) {
			return
		}
	}
}

// pass hands a line over. Once the process has ended only what fits is kept: nobody may ever come for the rest.
func (p *process) pass(l line) bool {
	select {
	case p.lines <- l:
		return true
	default:
	}
	select {
	case p.lines <- l:
		return true
	case <-p.done:
		return false
	}
}

// pending returns a line that nobody asked for.
func (p *process) pending() (line, bool) {
	select {
	case l, open := <-p.lines:
		return l, open
	default:
		return line{}, false
	}
}

// afterOutput is how long a process may take to end once its standard output has.
const afterOutput = time.Second

// ask writes one line and waits for one that answers says is an answer; lines before it go to other,
// and after one of those at most quiet passes. A context that ends is its own error; everything else is an *Error.
func (p *process) ask(ctx context.Context, request []byte, answers func([]byte) bool, quiet time.Duration,
	other io.Writer,
) ([]byte, error) {
	var last []byte
	go func() { _, _ = p.stdin.Write(append(request, '\n')) }() // a worker that is gone shows in lines and done
	for skipped := 0; ; skipped++ {
		text, err := p.awaitWithin(ctx, quiet, skipped > 0)
		if err != nil && skipped > 0 && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil, problem(KindLine, nil, "the answer to hello is %q, and nothing came after it within %v", start(last),
				quiet)
		}
		if err != nil || answers(text) || skipped == mostChatter {
			return text, err
		}
		last = text
		_, _ = fmt.Fprintf(other, "%s\n", text)
	}
}

// awaitWithin waits for a line, and no longer than quiet where that counts.
func (p *process) awaitWithin(ctx context.Context, quiet time.Duration, counts bool) ([]byte, error) {
	if counts {
		limited, cancel := context.WithTimeout(ctx, quiet)
		defer cancel()
		ctx = limited
	}
	return p.await(ctx)
}

// mostChatter is how many lines a worker may print before its first answer: banners of libraries, prints of its own.
const mostChatter = 200

// await waits for a line.
func (p *process) await(ctx context.Context) ([]byte, error) {
	select {
	case l, open := <-p.lines:
		switch {
		case l.err != nil:
			return nil, problem(KindLine, nil, "%v; standard output is for answers, one JSON object a line", l.err)
		case open:
			return l.text, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-p.done:
		if p.err != nil {
			return nil, problem(KindExit, p.err, "the process ended before it answered")
		}
		return nil, problem(KindExit, nil, "the process ended with exit status 0 before it answered; it must read on until "+
			"its standard input ends")
	case <-time.After(afterOutput):
		return nil, problem(KindExit, nil, "standard output was closed before the answer, and the process runs on; leave "+
			"it open")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end closes standard input and waits for the process to end by itself.
func (p *process) end(grace time.Duration) error {
	_ = p.stdin.Close() // an error here means that the other end is gone
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	lines := p.lines
	for {
		select {
		case _, open := <-lines: // nobody asked for these any more
			if !open {
				lines = nil
			}
		case <-p.done:
			if p.err != nil {
				return problem(KindEnd, p.err, "standard input ended and the process ended with a failure; end with exit status 0")
			}
			return nil
		case <-ctx.Done():
			p.kill()
			<-p.done
			return problem(KindEnd, nil, "standard input ended and %v later the process still ran; it was killed", grace)
		}
	}
}

// start is the beginning of a line, for sentences.
func start(text []byte) string {
	return string(text[:min(len(text), 120)])
}
