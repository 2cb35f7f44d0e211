package manifest

import (
	"fmt"
	"math"
	"math/bits"
)

// Value is what an expression yields: a whole number, a real number or a word. Comparisons yield 1 or 0.
type Value struct {
	kind kind
	i    int64
	f    float64
	s    string
}

type kind int

const (
	whole kind = iota
	realNumber
	word
)

// Int makes a whole number.
func Int(i int64) Value { return Value{kind: whole, i: i} }

// Of makes a value of what JSON decodes into: numbers, words and switches. A number without a fraction is whole.
func Of(v any) (Value, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return Int(1), nil
		}
		return Int(0), nil
	case int:
		return Int(int64(v)), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return Int(int64(v)), nil
		}
		return Value{kind: realNumber, f: v}, nil
	case string:
		return Value{kind: word, s: v}, nil
	}
	return Value{}, fmt.Errorf("a value of type %T is neither a number, a word nor a switch", v)
}

// String is the value as an error shows it.
func (v Value) String() string {
	switch v.kind {
	case whole:
		return fmt.Sprint(v.i)
	case realNumber:
		return fmt.Sprint(v.f)
	default:
		return fmt.Sprintf("%q", v.s)
	}
}

// Int64 is the value as a whole number.
func (v Value) Int64() (int64, error) {
	if v.kind != whole {
		return 0, fmt.Errorf("%v is no whole number", v)
	}
	return v.i, nil
}

// Float64 is the value as a real number.
func (v Value) Float64() (float64, error) {
	switch v.kind {
	case whole:
		return float64(v.i), nil
	case realNumber:
		return v.f, nil
	default:
		return 0, fmt.Errorf("%v is no number", v)
	}
}

// compare applies a comparison. Words are equal or not; numbers have an order.
func compare(op string, a, b Value) (Value, error) {
	if (a.kind == word) != (b.kind == word) || a.kind == word && op != "==" && op != "!=" {
		return Value{}, fmt.Errorf("%v %s %v: words are compared with words, by == and !=", a, op, b)
	}
	yes := false
	if a.kind == word {
		yes = (a.s == b.s) == (op == "==")
	} else {
		x, errX := a.Float64()
		y, errY := b.Float64()
		if errX != nil || errY != nil {
			return Value{}, fmt.Errorf("%v %s %v: not two numbers", a, op, b)
		}
		switch op {
		case "==":
			yes = x == y
		case "!=":
			yes = x != y
		case "<":
			yes = x < y
		case "<=":
			yes = x <= y
		case ">":
			yes = x > y
		case ">=":
			yes = x >= y
		}
	}
	if yes {
		return Int(1), nil
	}
	return Int(0), nil
}

// arithmetic applies an operator to whole numbers. Division rounds down, towards minus infinity.
func arithmetic(op string, a, b Value) (Value, error) {
	x, err := a.Int64()
	if err != nil {
		return Value{}, fmt.Errorf("%v %s %v: %w; arithmetic is on whole numbers", a, op, b, err)
	}
	y, err := b.Int64()
	if err != nil {
		return Value{}, fmt.Errorf("%v %s %v: %w; arithmetic is on whole numbers", a, op, b, err)
	}
	var out int64
	ok := true
	switch op {
	case "+":
		out = x + y
		ok = (out > x) == (y > 0)
	case "-":
		out = x - y
		ok = (out < x) == (y > 0)
	case "*":
		out, ok = times(x, y)
	default: // "/", "%", "ceil"
		if y <= 0 {
			return Value{}, fmt.Errorf("%d %s %d: the divisor must be positive", x, op, y)
		}
		quotient, rest := x/y, x%y
		if rest < 0 {
			quotient, rest = quotient-1, rest+y
		}
		switch {
		case op == "/":
			out = quotient
		case op == "%":
			out = rest
		case rest > 0:
			out = quotient + 1
		default:
			out = quotient
		}
	}
	if !ok {
		return Value{}, fmt.Errorf("%d %s %d leaves the range of 64 bits", x, op, y)
	}
	return Int(out), nil
}

func times(x, y int64) (int64, bool) {
	if x == math.MinInt64 || y == math.MinInt64 {
		return 0, x == 0 || y == 0
	}
	high, low := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	return x * y, high == 0 && low <= math.MaxInt64
}
