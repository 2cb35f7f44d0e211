package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/assay-suite/assay/safetensors"
)

// build makes a file of a header and n data bytes 0, 1, 2, ... (mod 251, so that rows differ).
func build(header string, n int) []byte {
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	for i := range n {
		file = append(file, byte(i%251))
	}
	return file
}

// tensor is one header entry as text.
func tensor(name, dtype, shape string, begin, end int) string {
	return fmt.Sprintf(`%q:{"dtype":%q,"shape":[%s],"data_offsets":[%d,%d]}`, name, dtype, shape, begin, end)
}

func open(file []byte) (*safetensors.File, error) {
	return safetensors.NewReader(bytes.NewReader(file), int64(len(file)), "bad.safetensors")
}

// closeAfter closes at the end of the test, where a failing Close is a finding.
func closeAfter(t *testing.T, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// wantFormatError checks that err is a sentence about that file, tensor, byte and cause with a remedy.
func wantFormatError(t *testing.T, err error, file, tensor string, offset int64, cause string) {
	t.Helper()
	var fe *safetensors.FormatError
	if !errors.As(err, &fe) {
		t.Fatalf("got %v (%T), want a *FormatError", err, err)
	}
	if fe.File != file || fe.Tensor != tensor || fe.Offset != offset {
		t.Errorf("blames file %q, tensor %q, byte %d; want %q, %q, %d\n%v", fe.File, fe.Tensor, fe.Offset, file, tensor,
			offset, err)
	}
	if !strings.Contains(fe.Problem, cause) {
		t.Errorf("the problem %q does not mention %q", fe.Problem, cause)
	}
	text := err.Error()
	for _, part := range []string{file, fmt.Sprintf("byte %d", offset)} {
		if !strings.Contains(text, part) {
			t.Errorf("the sentence %q does not contain %q", text, part)
		}
	}
	if tensor != "" && !strings.Contains(text, fmt.Sprintf("tensor %q", tensor)) {
		t.Errorf("the sentence %q does not name tensor %q", text, tensor)
	}
	remedies := []string{
		"write ", "fetch ", "git lfs pull", "convert it", "check ", "the format has", "correct the", "remove one",
	}
	for _, r := range remedies {
		if strings.Contains(fe.Problem, r) {
			return
		}
	}
	t.Errorf("the problem %q says nothing about what to do", fe.Problem)
}
