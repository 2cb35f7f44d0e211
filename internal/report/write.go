package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files WriteAll makes.
const (
	HTMLFile     = "report.html"
	JUnitFile    = "junit.xml"
	IncidentFile = "incident.txt"
)

// WriteAll writes report.html, junit.xml and incident.txt into dir, which it makes if need be, and
// appends the Markdown summary to the file that GITHUB_STEP_SUMMARY names, if it is set. All
// are redacted by redact (nil: nothing is secret), written under a temporary name,
// synced and renamed: a reader, or a crash, never sees half a file. If one cannot be
// written the other still is; the errors are joined.
func WriteAll(dir string, run Run, redact *Redactor) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the report folder %q: %w", dir, err)
	}
	run = redact.Run(run)
	return errors.Join(
		writeFile(filepath.Join(dir, HTMLFile), redact, func(w io.Writer) error { return WriteHTML(w, run) }),
		writeFile(filepath.Join(dir, JUnitFile), redact, func(w io.Writer) error { return WriteJUnit(w, run) }),
		writeFile(filepath.Join(dir, IncidentFile), redact, func(w io.Writer) error {
			_, err := io.WriteString(w, Incident(run))
			return err
		}),
		appendSummary(run),
	)
}

// writeFile writes path whole or not at all, through the redactor.
func writeFile(path string, redact *Redactor, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("creating a temporary file for %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // already closed on the late paths
			_ = os.Remove(f.Name())
			err = fmt.Errorf("writing %q: %w", path, err)
		}
	}()
	w := redact.markup().Writer(f)
	if err = write(w); err != nil {
		return err
	}
	if err = w.Close(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil { // CreateTemp makes 0600; reports are shared
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
