package safetensors_test

import (
	"slices"
	"testing"
)

// Names MUST follow the bytes, not the header.
func TestNamesFollowTheBytes(t *testing.T) {
	f, err := open(build(`{`+tensor("z", "U8", "2", 5, 7)+`,`+tensor("m", "U8", "5", 0, 5)+`,`+
		tensor("e", "U8", "0", 5, 5)+`}`, 7))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"m", "e", "z"}; !slices.Equal(f.Names(), want) {
		t.Errorf("got %v, want %v", f.Names(), want)
	}
}
