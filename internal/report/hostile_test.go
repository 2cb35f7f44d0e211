package report

import (
	"math"
	"reflect"
)

// hostileText tries every medium at once.
const hostileText = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07\r\x00\u202e\u009b31m]]>&amp;" +
	"\"'`</pre></details></svg>" +
	"<img src=http://evil.example/x onerror=alert(1)>\xff\xfe{{.}}<!--<style>"

// hostileRun has hostileText in every text of every type, and margins that are no
// numbers.
func hostileRun() Run {
	r := fullRun()
	fillStrings(reflect.ValueOf(&r).Elem(), hostileText)
	r.Grids[0].Cells[1][1].Margin = new(math.Inf(-1))
	r.Grids[0].Cells[1][2].Margin = new(math.NaN())
	r.Findings[0].Margins[0].Got = math.Inf(1)
	r.Grids[0].Recall.Of = 35
	r.Cases[0].Seconds = math.NaN()
	r.Charts[0].Series[1].Points[1].Low = new(math.NaN())
	r.Cliffs[0].Edge.At = math.Inf(1)
	r.Cliffs[0].Causes[0].At = math.NaN()
	r.Diagnosis.Classes[0].P = math.Inf(1)
	r.Ladders[0].Arms[0].Rates[0].Hits = -3
	return r
}

// fillStrings sets every string reachable from v to s and adds an element to every
// empty list, so that a field added later is covered too.
func fillStrings(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fillStrings(v.Elem(), s)
	case reflect.Slice:
		if v.Len() == 0 && v.Type() != reflect.TypeFor[[]Fact]() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fillStrings(v.Index(i), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillStrings(v.Field(i), s)
			}
		}
	}
}
