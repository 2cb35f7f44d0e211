package safetensors_test

import (
	"slices"
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
	{
		name:     "json-cut",
		header:   `{"a":{"dtype":"F32"§`,
		tensor:   "a",
		cause:    "ends before it is complete",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "string-cut",
		header:   `{"a":{"dtype":"F32§`,
		tensor:   "a",
		cause:    "ends before it is complete",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "trailing-comma",
		header:   `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},§}`,
		data:     8,
		cause:    "malformed here",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "missing-colon",
		header:   `{"a" §{"dtype":"F32"}}`,
		tensor:   "a",
		cause:    "malformed here",
		twin:     goodA,
		twinData: 8,
	},
	{name: "single-quotes", header: `{§'a':{}}`, cause: "malformed here", twin: goodA, twinData: 8},
	{
		name:     "nul-padding",
		header:   goodA + "§\x00\x00",
		data:     8,
		cause:    "0x00 stands after the JSON object",
		twin:     goodA + "  ",
		twinData: 8,
	},
	{name: "second-object", header: `{}§{}`, cause: "0x7b stands after the JSON object", twin: `{}` + " \n\t\r"},
	{
		name:     "not-utf8",
		header:   "{\"a§\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
		data:     8,
		cause:    "not valid UTF-8 (byte 0xff)",
		twin:     strings.Replace(goodA, "a", "aÿ", 1),
		twinData: 8,
	},
	{
		name:     "half-surrogate",
		header:   `{§"\ud800":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		cause:    "half a surrogate pair",
		twin:     strings.Replace(goodA, "a", `\ud83d\ude00\ufffd`, 1),
		twinData: 8,
	},

	// Keys and fields.
	{
		name: "duplicate-tensor",
		header: `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},§"a":{"dtype":"U8","shape":[1],` +
			`"data_offsets":[1,2]}}`,
		data:     2,
		cause:    `key "a" twice (first at byte 9)`,
		twin:     `{` + tensor("a", "U8", "1", 0, 1) + `,` + tensor("A", "U8", "1", 1, 2) + `}`,
		twinData: 2,
	},
	{
		name: "duplicate-tensor-escaped",
		header: `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},§"\u0061":{"dtype":"U8","shape":[1],` +
			`"data_offsets":[1,2]}}`,
		data:  2,
		cause: `key "a" twice`,
		twin: `{` + tensor("a", "U8", "1", 0, 1) + `,` + strings.Replace(tensor("b", "U8", "1", 1, 2), "b", `\u0062`, 1) +
			`}`,
		twinData: 2,
	},
	{
		name:     "duplicate-field",
		header:   `{"a":{"dtype":"F32","shape":[2],§"shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    `key "shape" twice`,
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "unknown-field",
		header:   `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],§"strides":[1]}}`,
		data:     8,
		tensor:   "a",
		cause:    `unknown field "strides"`,
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "field-in-capitals",
		header:   `{"a":{§"DType":"F32","shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    `unknown field "DType"`,
		twin:     goodA,
		twinData: 8,
	},
	{name: "entry-null", header: `{"a":§null}`, tensor: "a", cause: "must be a JSON object, not null", twin: `{}`},
	{
		name:     "entry-array",
		header:   `{"a":§["F32",[2],[0,8]]}`,
		data:     8,
		tensor:   "a",
		cause:    "must be a JSON object, not an array",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "no-dtype",
		header:   `{§"a":{"shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    "no dtype",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "no-shape",
		header:   `{§"a":{"dtype":"F32","data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    "no shape",
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "no-offsets",
		header:   `{§"a":{"dtype":"F32","shape":[2]}}`,
		data:     8,
		tensor:   "a",
		cause:    "no data_offsets",
		twin:     goodA,
		twinData: 8,
	},

	// __metadata__.
	{
		name:   "metadata-number",
		header: `{"__metadata__":{"step":§7}}`,
		cause:  `value of "step" must be a string, not the number 7`,
		twin:   `{"__metadata__":{"step":"7"}}`,
	},
	{
		name:   "metadata-nested",
		header: `{"__metadata__":{"x":§{"y":"z"}}}`,
		cause:  "must be a string, not an object",
		twin:   `{"__metadata__":{"x":"y"}}`,
	},
	{
		name:   "metadata-null",
		header: `{"__metadata__":§null}`,
		cause:  "__metadata__ must be a JSON object, not null",
		twin:   `{"__metadata__":{}}`,
	},
	{
		name:   "metadata-twice",
		header: `{"__metadata__":{},§"__metadata__":{}}`,
		cause:  `key "__metadata__" twice`,
		twin:   `{"__metadata__":{}}`,
	},
	{
		name:   "metadata-key-twice",
		header: `{"__metadata__":{"f":"pt",§"f":"np"}}`,
		cause:  `key "f" twice`,
		twin:   `{"__metadata__":{"f":"pt","F":"np"}}`,
	},

	// dtype and shape.
	{
		name:     "unknown-dtype",
		header:   `{"a":{"dtype":§"F8_E4M3FN","shape":[2],"data_offsets":[0,2]}}`,
		data:     2,
		tensor:   "a",
		cause:    `dtype "F8_E4M3FN" is unknown`,
		twin:     `{` + tensor("a", "F8_E4M3", "2", 0, 2) + `}`,
		twinData: 2,
	},
	{
		name:     "lower-case-dtype",
		header:   `{"a":{"dtype":§"f32","shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    `dtype "f32" is unknown`,
		twin:     goodA,
		twinData: 8,
	},
	{
		name:     "dtype-number",
		header:   `{"a":{"dtype":§32,"shape":[2],"data_offsets":[0,8]}}`,
		data:     8,
		tensor:   "a",
		cause:    "dtype must be a string",
		twin:     goodA,
		twinData: 8,
	},
}

// Every malformed file MUST be refused with file, tensor, byte and cause; its twin MUST open.
func TestMalformedHeaders(t *testing.T) {
	for _, row := range slices.Concat(malformedHeaders, malformedShapes) {
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
