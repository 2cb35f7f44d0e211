package safetensors_test

import (
	"strings"
	"testing"
)

// malformed is a file with one defect and its twin without it. In header, the mark § stands before
// the byte that the error must name and is taken out; without a mark the byte is data byte at.
type malformed struct {
	name   string
	header string
	data   int // bytes of data
	tensor string
	at     int
	cause  string

	twin     string
	twinData int
}

const (
	goodA = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	goodB = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}`
)

var malformedHeaders = []malformed{
	// The JSON itself.
	{name: "leading-blank", header: `§ {}`, cause: "must start with '{'", twin: `{} `},
	{name: "array-header", header: `§[1]`, cause: "must start with '{'", twin: `{}`},
	{name: "byte-order-mark", header: "§\ufeff{}", cause: "starts with 0xef", twin: `{}`},
	{name: "json-cut", header: `{"a":{"dtype":"F32"§`, tensor: "a", cause: "ends before it is complete", twin: goodA, twinData: 8},
	{name: "string-cut", header: `{"a":{"dtype":"F32§`, tensor: "a", cause: "ends before it is complete", twin: goodA, twinData: 8},
	{name: "trailing-comma", header: `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},§}`, data: 8, cause: "malformed here", twin: goodA, twinData: 8},
	{name: "missing-colon", header: `{"a" §{"dtype":"F32"}}`, tensor: "a", cause: "malformed here", twin: goodA, twinData: 8},
	{name: "single-quotes", header: `{§'a':{}}`, cause: "malformed here", twin: goodA, twinData: 8},
	{name: "nul-padding", header: goodA + "§\x00\x00", data: 8, cause: "0x00 stands after the JSON object", twin: goodA + "  ", twinData: 8},
	{name: "second-object", header: `{}§{}`, cause: "0x7b stands after the JSON object", twin: `{}` + " \n\t\r"},
	{name: "not-utf8", header: "{\"a§\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", data: 8, cause: "not valid UTF-8 (byte 0xff)", twin: strings.Replace(goodA, "a", "aÿ", 1), twinData: 8},
	{name: "half-surrogate", header: `{§"\ud800":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, data: 8, cause: "half a surrogate pair", twin: strings.Replace(goodA, "a", `\ud83d\ude00\ufffd`, 1), twinData: 8},

	// Keys and fields.
	{name: "duplicate-tensor", header: `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},§"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, data: 2, cause: `key "a" twice (first at byte 9)`, twin: `{` + tensor("a", "U8", "1", 0, 1) + `,` + tensor("A", "U8", "1", 1, 2) + `}`, twinData: 2},
	{name: "duplicate-tensor-escaped", header: `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},§"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, data: 2, cause: `key "a" twice`, twin: `{` + tensor("a", "U8", "1", 0, 1) + `,` + strings.Replace(tensor("b", "U8", "1", 1, 2), "b", `\u0062`, 1) + `}`, twinData: 2},
	{name: "duplicate-field", header: `{"a":{"dtype":"F32","shape":[2],§"shape":[2],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: `key "shape" twice`, twin: goodA, twinData: 8},
	{name: "unknown-field", header: `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],§"strides":[1]}}`, data: 8, tensor: "a", cause: `unknown field "strides"`, twin: goodA, twinData: 8},
	{name: "field-in-capitals", header: `{"a":{§"DType":"F32","shape":[2],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: `unknown field "DType"`, twin: goodA, twinData: 8},
	{name: "entry-null", header: `{"a":§null}`, tensor: "a", cause: "must be a JSON object, not null", twin: `{}`},
	{name: "entry-array", header: `{"a":§["F32",[2],[0,8]]}`, data: 8, tensor: "a", cause: "must be a JSON object, not an array", twin: goodA, twinData: 8},
	{name: "no-dtype", header: `{§"a":{"shape":[2],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "no dtype", twin: goodA, twinData: 8},
	{name: "no-shape", header: `{§"a":{"dtype":"F32","data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "no shape", twin: goodA, twinData: 8},
	{name: "no-offsets", header: `{§"a":{"dtype":"F32","shape":[2]}}`, data: 8, tensor: "a", cause: "no data_offsets", twin: goodA, twinData: 8},

	// __metadata__.
	{name: "metadata-number", header: `{"__metadata__":{"step":§7}}`, cause: `value of "step" must be a string, not the number 7`, twin: `{"__metadata__":{"step":"7"}}`},
	{name: "metadata-nested", header: `{"__metadata__":{"x":§{"y":"z"}}}`, cause: "must be a string, not an object", twin: `{"__metadata__":{"x":"y"}}`},
	{name: "metadata-null", header: `{"__metadata__":§null}`, cause: "__metadata__ must be a JSON object, not null", twin: `{"__metadata__":{}}`},
	{name: "metadata-twice", header: `{"__metadata__":{},§"__metadata__":{}}`, cause: `key "__metadata__" twice`, twin: `{"__metadata__":{}}`},
	{name: "metadata-key-twice", header: `{"__metadata__":{"f":"pt",§"f":"np"}}`, cause: `key "f" twice`, twin: `{"__metadata__":{"f":"pt","F":"np"}}`},

	// dtype and shape.
	{name: "unknown-dtype", header: `{"a":{"dtype":§"F8_E4M3FN","shape":[2],"data_offsets":[0,2]}}`, data: 2, tensor: "a", cause: `dtype "F8_E4M3FN" is unknown`, twin: `{` + tensor("a", "F8_E4M3", "2", 0, 2) + `}`, twinData: 2},
	{name: "lower-case-dtype", header: `{"a":{"dtype":§"f32","shape":[2],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: `dtype "f32" is unknown`, twin: goodA, twinData: 8},
	{name: "dtype-number", header: `{"a":{"dtype":§32,"shape":[2],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "dtype must be a string", twin: goodA, twinData: 8},
	{name: "negative-dimension", header: `{"a":{"dtype":"F32","shape":[2,§-1],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "is -1, but must be an integer from 0", twin: goodA, twinData: 8},
	{name: "negative-zero", header: `{"a":{"dtype":"F32","shape":[§-0],"data_offsets":[0,0]}}`, tensor: "a", cause: "is -0", twin: `{` + tensor("a", "F32", "0", 0, 0) + `}`},
	{name: "fractional-dimension", header: `{"a":{"dtype":"F32","shape":[§2.0],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "is 2.0", twin: goodA, twinData: 8},
	{name: "exponent-dimension", header: `{"a":{"dtype":"F32","shape":[§2e0],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "is 2e0", twin: goodA, twinData: 8},
	{name: "string-dimension", header: `{"a":{"dtype":"F32","shape":[§"2"],"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: `not the string "2"`, twin: goodA, twinData: 8},
	{name: "shape-scalar", header: `{"a":{"dtype":"F32","shape":§2,"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "must be an array of integers", twin: goodA, twinData: 8},
	{name: "dimension-above-64-bits", header: `{"a":{"dtype":"U8","shape":[§18446744073709551618],"data_offsets":[0,2]}}`, data: 2, tensor: "a", cause: "is 18446744073709551618", twin: `{` + tensor("a", "U8", "2", 0, 2) + `}`, twinData: 2},
	{name: "product-wraps-to-the-right-size", header: `{"a":{"dtype":"U8",§"shape":[4294967297,4294967297],"data_offsets":[0,8589934593]}}`, tensor: "a", cause: "overflows", twin: `{` + tensor("a", "U8", "0,4294967297", 0, 0) + `}`},
	{name: "empty-with-overflowing-rows", header: `{"a":{"dtype":"U8",§"shape":[0,4294967296,4294967296],"data_offsets":[0,0]}}`, tensor: "a", cause: "overflows", twin: `{` + tensor("a", "U8", "0,65536,65536", 0, 0) + `}`},
	{name: "dimension-of-64-bits", header: `{"a":{"dtype":"U8","shape":[§9223372036854775808],"data_offsets":[0,2]}}`, data: 2, tensor: "a", cause: "is 9223372036854775808", twin: `{` + tensor("a", "U8", "2", 0, 2) + `}`, twinData: 2},
	{name: "offset-of-64-bits", header: `{"a":{"dtype":"U8","shape":[2],"data_offsets":[§18446744073709551614,0]}}`, data: 2, tensor: "a", cause: "is 18446744073709551614", twin: `{` + tensor("a", "U8", "2", 0, 2) + `}`, twinData: 2},
	{name: "empty-with-rows-of-64-bits", header: `{"a":{"dtype":"U8",§"shape":[0,1152921504606846976],"data_offsets":[0,0]}}`, tensor: "a", cause: "overflows", twin: `{` + tensor("a", "U8", "0,1152921504606846975", 0, 0) + `}`},
	{name: "f4-half-byte", header: `{"a":{"dtype":"F4",§"shape":[3],"data_offsets":[0,2]}}`, data: 2, tensor: "a", cause: "makes 12 bits", twin: `{` + tensor("a", "F4", "4", 0, 2) + `}`, twinData: 2},
	{name: "f6-half-byte", header: `{"a":{"dtype":"F6_E3M2",§"shape":[2],"data_offsets":[0,2]}}`, data: 2, tensor: "a", cause: "makes 12 bits", twin: `{` + tensor("a", "F6_E3M2", "4", 0, 3) + `}`, twinData: 3},

	// data_offsets against the shape.
	{name: "one-offset", header: `{"a":{"dtype":"F32","shape":[2],§"data_offsets":[8]}}`, data: 8, tensor: "a", cause: "has 1 values", twin: goodA, twinData: 8},
	{name: "three-offsets", header: `{"a":{"dtype":"F32","shape":[2],§"data_offsets":[0,8,8]}}`, data: 8, tensor: "a", cause: "has 3 values", twin: goodA, twinData: 8},
	{name: "negative-offset", header: `{"a":{"dtype":"F32","shape":[2],"data_offsets":[§-8,0]}}`, tensor: "a", cause: "is -8", twin: goodA, twinData: 8},
	{name: "end-before-begin", header: `{"a":{"dtype":"F32","shape":[2],§"data_offsets":[8,0]}}`, data: 8, tensor: "a", cause: "end at 0 before they begin at 8", twin: goodA, twinData: 8},
	{name: "span-too-short", header: `{"a":{"dtype":"F32","shape":[2],§"data_offsets":[0,7]}}`, data: 7, tensor: "a", cause: "span 7 bytes, but shape [2] of F32 needs 8", twin: goodA, twinData: 8},
	{name: "span-too-long", header: `{"a":{"dtype":"BF16","shape":[2],§"data_offsets":[0,8]}}`, data: 8, tensor: "a", cause: "needs 4", twin: `{` + tensor("a", "BF16", "4", 0, 8) + `}`, twinData: 8},
	{name: "scalar-without-bytes", header: `{"a":{"dtype":"F32","shape":[],§"data_offsets":[0,0]}}`, tensor: "a", cause: "needs 4", twin: `{` + tensor("a", "F32", "", 0, 4) + `}`, twinData: 4},

	// The layout of the data.
	{name: "hole-at-start", header: `{` + tensor("a", "F32", "2", 4, 12) + `}`, data: 12, tensor: "a", at: 0, cause: "4 bytes before this tensor (begin 4) belong to no tensor", twin: goodA, twinData: 8},
	{name: "hole-between", header: `{` + tensor("a", "F32", "2", 0, 8) + `,` + tensor("b", "U8", "3", 9, 12) + `}`, data: 12, tensor: "b", at: 8, cause: "1 bytes before", twin: goodB, twinData: 11},
	{name: "overlap", header: `{` + tensor("a", "F32", "2", 0, 8) + `,` + tensor("b", "U8", "3", 7, 10) + `}`, data: 10, tensor: "b", at: 7, cause: `begins at data offset 7 inside tensor "a", which ends at 8`, twin: goodB, twinData: 11},
	{name: "same-bytes-twice", header: `{` + tensor("a", "F32", "2", 0, 8) + `,` + tensor("b", "F32", "2", 0, 8) + `}`, data: 8, tensor: "b", at: 0, cause: "begins at data offset 0 inside", twin: goodA, twinData: 8},
	{name: "empty-tensor-inside-another", header: `{` + tensor("a", "F32", "2", 0, 8) + `,` + tensor("b", "U8", "0", 4, 4) + `}`, data: 8, tensor: "b", at: 4, cause: "inside tensor", twin: `{` + tensor("a", "F32", "2", 0, 8) + `,` + tensor("b", "U8", "0", 8, 8) + `}`, twinData: 8},
	{name: "data-cut", header: goodB, data: 10, tensor: "b", at: 10, cause: "ends at data offset 11, but the file has only 10", twin: goodB, twinData: 11},
	{name: "data-left-over", header: goodB, data: 12, at: 11, cause: "1 bytes after the last tensor", twin: goodB, twinData: 11},
	{name: "data-without-tensors", header: `{}`, data: 5, at: 0, cause: "5 bytes after the last tensor", twin: `{}`},
}

// Every malformed file MUST be refused with file, tensor, byte and cause; its twin MUST open.
func TestMalformedHeaders(t *testing.T) {
	for _, row := range malformedHeaders {
		t.Run(row.name, func(t *testing.T) {
			before, after, marked := strings.Cut(row.header, "§")
			header, offset := before+after, int64(8+len(before))
			if !marked {
				offset = int64(8 + len(header) + row.at)
			}
			f, err := open(build(header, row.data))
			if f != nil {
				t.Error("a refused file came back opened")
			}
			wantFormatError(t, err, "bad.safetensors", row.tensor, offset, row.cause)
			if _, err := open(build(row.twin, row.twinData)); err != nil {
				t.Errorf("the corrected twin does not open: %v", err)
			}
		})
	}
}
