package format

import (
	"errors"
	"fmt"
)

// Field is one tensor [Tokens, Count] inside of a page: element e of token t starts at byte
// At + t*Stride + e*Width/8 (see Layout.Offset for elements of less than a byte).
type Field struct {
	Name   string
	Format Format
	Count  int    // elements a token
	At     int    // first byte of token 0
	Stride int    // bytes from a token to the next
	Scales string // the field that scales this one, "" for none
	Group  int    // elements under one scale
}

// Layout is how a page of a cache interleaves the tensors of its tokens, as data. Bytes that belong
// to no field are padding: Pack writes 0 there, Unpack and Decode do not read them.
type Layout struct {
	Name   string
	Tokens int // tokens a page
	Size   int // bytes a page, padding included
	Fields []Field
}

// bytes a token of the field takes.
func (f Field) bytes() int { return f.Count * f.Format.Width() / 8 }

// field finds a field by name.
func (l Layout) field(name string) (Field, error) {
	var known []string
	for _, f := range l.Fields {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Field{}, fmt.Errorf("layout %s has no field %q: its fields are %q", l.Name, name, known)
}

// Offset returns where an element is stored: the byte, and the bit in it, which is 4 for the odd
// elements of 4-bit formats and 0 otherwise.
func (l Layout) Offset(field string, token, element int) (at, bit int, err error) {
	f, err := l.field(field)
	if err != nil {
		return 0, 0, err
	}
	if token < 0 || token >= l.Tokens || element < 0 || element >= f.Count {
		return 0, 0, fmt.Errorf("layout %s: token %d, element %d of field %q; it has %d tokens of %d elements",
			l.Name, token, element, field, l.Tokens, f.Count)
	}
	bits := element * f.Format.Width()
	return f.At + token*f.Stride + bits/8, bits % 8, nil
}

// Locate splits a cache index into page and token: index = page*Tokens + token (FlashMLA; -1 and
// other negatives mean no token and give ok = false).
func (l Layout) Locate(index int) (page, token int, ok bool) {
	if index < 0 || l.Tokens < 1 {
		return 0, 0, false
	}
	return index / l.Tokens, index % l.Tokens, true
}

// Validate reports fields that overlap, leave the page, or point to scales that do not fit.
func (l Layout) Validate() error {
	if l.Tokens < 1 || l.Size < 1 {
		return fmt.Errorf("layout %s: %d tokens in %d bytes; both must be at least 1", l.Name, l.Tokens, l.Size)
	}
	var errs []error
	if len(l.Fields) > 254 || l.Size > 1<<30 {
		return fmt.Errorf("layout %s: %d fields in %d bytes; want at most 254 in 2^30", l.Name, len(l.Fields), l.Size)
	}
	owner := make([]byte, l.Size)
	for i, f := range l.Fields {
		if f.Count*f.Format.Width()%8 != 0 {
			errs = append(errs, fmt.Errorf("layout %s: %d elements of %s in field %q do not fill whole bytes", l.Name, f.Count,
				f.Format.Name, f.Name))
		}
		if f.Scales != "" {
			s, err := l.field(f.Scales)
			switch {
			case err != nil:
				errs = append(errs, err)
			case f.Group < 1 || s.Count != (f.Count+f.Group-1)/f.Group:
				errs = append(errs, fmt.Errorf("layout %s: %d elements of %q in groups of %d need as many scales, %q has %d",
					l.Name, f.Count, f.Name, f.Group, s.Name, s.Count))
			}
		}
	tokens:
		for t := range l.Tokens {
			for b := range f.bytes() {
				at := f.At + t*f.Stride + b
				if at < 0 || at >= l.Size {
					errs = append(errs, fmt.Errorf("layout %s: token %d of field %q reaches byte %d of %d", l.Name, t, f.Name, at,
						l.Size))
					break tokens
				}
				if o := owner[at]; o != 0 {
					errs = append(errs, fmt.Errorf("layout %s: fields %q and %q share byte %d", l.Name, l.Fields[o-1].Name, f.Name,
						at))
					break tokens
				}
				owner[at] = byte(i + 1)
			}
		}
	}
	return errors.Join(errs...)
}

// Pack interleaves the fields into a page. parts holds the codes of each field, [Tokens, Count] row
// by row in the packing of DecodeBytes; all fields must be there.
func (l Layout) Pack(parts map[string][]byte) ([]byte, error) {
	if len(parts) != len(l.Fields) {
		return nil, fmt.Errorf("layout %s: %d parts for %d fields", l.Name, len(parts), len(l.Fields))
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	page := make([]byte, l.Size)
	for _, f := range l.Fields {
		n := f.bytes()
		src, ok := parts[f.Name]
		if !ok || len(src) != l.Tokens*n {
			return nil, fmt.Errorf("layout %s: field %q has %d bytes, want %d tokens of %d", l.Name, f.Name, len(src), l.Tokens,
				n)
		}
		for t := range l.Tokens {
			copy(page[f.At+t*f.Stride:], src[t*n:(t+1)*n])
		}
	}
	return page, nil
}

// Unpack is the inverse of Pack.
func (l Layout) Unpack(page []byte) (map[string][]byte, error) {
	if err := l.checkPage(page); err != nil {
		return nil, err
	}
	parts := make(map[string][]byte, len(l.Fields))
	for _, f := range l.Fields {
		n := f.bytes()
		out := make([]byte, 0, l.Tokens*n)
		for t := range l.Tokens {
			at := f.At + t*f.Stride
			out = append(out, page[at:at+n]...)
		}
		parts[f.Name] = out
	}
	return parts, nil
}

func (l Layout) checkPage(page []byte) error {
	if len(page) != l.Size {
		return fmt.Errorf("layout %s: a page of %d bytes, want %d", l.Name, len(page), l.Size)
	}
	return l.check()
}

// check is what of Validate keeps hand-made layouts from reading outside of a page, without its cost.
func (l Layout) check() error {
	if l.Size > 1<<30 {
		return fmt.Errorf("layout %s: a page of %d bytes; want at most 2^30", l.Name, l.Size)
	}
	for _, f := range l.Fields {
		first, last := f.At, f.At+(l.Tokens-1)*f.Stride
		if l.Tokens < 1 || f.Count < 0 || min(first, last) < 0 || max(first, last) > l.Size-f.bytes() {
			return fmt.Errorf("layout %s: field %q does not fit into its page of %d bytes; see Validate", l.Name, f.Name, l.Size)
		}
		if f.Scales == "" {
			continue
		}
		s, err := l.field(f.Scales)
		if err != nil {
			return err
		}
		if f.Group < 1 || s.Count != (f.Count+f.Group-1)/f.Group {
			return fmt.Errorf("layout %s: field %q in groups of %d does not fit its %d scales; see Validate", l.Name, f.Name,
				f.Group, s.Count)
		}
	}
	return nil
}
