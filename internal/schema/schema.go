// Package schema checks JSON against the published schemas of docs/schema, which are JSON Schema 2020-12.
//
// It knows the keywords that those schemas use and refuses a schema with any other, so that no rule is skipped in
// silence. It is for tests: what is written must be what was published.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Schema is a schema, or a part of one.
type Schema struct {
	rules map[string]any
	deny  bool // the schema false
}

// Published reads docs/schema/<name>.json of the module that the working directory is in.
func Published(name string) (*Schema, error) {
	raw, err := os.ReadFile(InModule("docs", "schema", name+".json"))
	if err != nil {
		return nil, fmt.Errorf("the schema %s cannot be read: %w", name, err)
	}
	s, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the schema %s: %w", name, err)
	}
	return s, nil
}

// InModule is a path below the root of the module, which is the nearest folder above with a go.mod.
func InModule(path ...string) string {
	root := "."
	for range 20 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	return filepath.Join(append([]string{root}, path...)...)
}

// CheckLines checks a file of one document a line, such as results.jsonl.
func (s *Schema) CheckLines(raw []byte) error {
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if err := s.Check(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if n == 0 {
		return errors.New("no line, so nothing was checked")
	}
	return nil
}

// Parse reads a schema. It fails for keywords that Check does not know.
func Parse(raw []byte) (*Schema, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return parse("", v)
}

func parse(at string, v any) (*Schema, error) {
	if allow, is := v.(bool); is {
		return &Schema{deny: !allow}, nil
	}
	rules, is := v.(map[string]any)
	if !is {
		return nil, fmt.Errorf("%s/ is neither an object nor a boolean", at)
	}
	s := &Schema{rules: maps.Clone(rules)}
	for name, value := range rules {
		var err error
		here := at + "/" + name
		switch name {
		case "$schema", "$id", "title", "description", "type", "const", "enum", "required", "minLength", "minimum":
		case "pattern":
			text, _ := value.(string)
			s.rules[name], err = regexp.Compile(text)
		case "items", "additionalProperties", "propertyNames", "if", "then", "else":
			s.rules[name], err = parse(here, value)
		case "anyOf":
			list, _ := value.([]any)
			parts := make([]*Schema, len(list))
			for i := 0; i < len(list) && err == nil; i++ {
				parts[i], err = parse(here+"/"+strconv.Itoa(i), list[i])
			}
			s.rules[name] = parts
		case "properties":
			object, _ := value.(map[string]any)
			parts := map[string]*Schema{}
			for key, v := range object {
				if parts[key], err = parse(here+"/"+key, v); err != nil {
					return nil, err
				}
			}
			s.rules[name] = parts
		default:
			return nil, fmt.Errorf("%s is a keyword that is not checked: add it to internal/schema", here)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", here, err)
		}
	}
	return s, nil
}

// Check returns the first rule that a document breaks, with the place; nil for one that holds them all.
func (s *Schema) Check(document []byte) error {
	dec := json.NewDecoder(bytes.NewReader(document))
	var v any
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if dec.More() {
		return fmt.Errorf("text behind the document, at byte %d", dec.InputOffset())
	}
	return s.check("", v)
}

func (s *Schema) check(at string, v any) error {
	if s.deny {
		return fmt.Errorf("%s/ may not be there", at)
	}
	for _, name := range slices.Sorted(maps.Keys(s.rules)) {
		if err := s.rule(name, at, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) rule(name, at string, v any) error {
	switch rule := s.rules[name]; name {
	case "type":
		if want, _ := rule.(string); want != typeOf(v) && (want != "number" || typeOf(v) != "integer") {
			return fmt.Errorf("%s/ is of type %s, want %s", at, typeOf(v), want)
		}
	case "const":
		if !reflect.DeepEqual(rule, v) {
			return fmt.Errorf("%s/ is %v, want %v", at, v, rule)
		}
	case "enum":
		if list, _ := rule.([]any); !slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, v) }) {
			return fmt.Errorf("%s/ is %v, want one of %v", at, v, list)
		}
	case "anyOf":
		parts, _ := rule.([]*Schema)
		if !slices.ContainsFunc(parts, func(p *Schema) bool { return p.check(at, v) == nil }) {
			return fmt.Errorf("%s/ is %v, which none of %d alternatives takes", at, v, len(parts))
		}
	case "if":
		branch := "then"
		if cond, _ := rule.(*Schema); cond.check(at, v) != nil {
			branch = "else"
		}
		if then, there := s.rules[branch].(*Schema); there {
			return then.check(at, v)
		}
	}
	switch v := v.(type) {
	case string:
		return s.text(name, at, v)
	case float64:
		if least, is := s.rules[name].(float64); is && name == "minimum" && v < least {
			return fmt.Errorf("%s/ is %v, want at least %v", at, v, least)
		}
	case []any:
		if item, is := s.rules[name].(*Schema); is && name == "items" {
			for i, e := range v {
				if err := item.check(at+"/"+strconv.Itoa(i), e); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		return s.object(name, at, v)
	}
	return nil
}

func (s *Schema) text(name, at, v string) error {
	switch rule := s.rules[name].(type) {
	case *regexp.Regexp:
		if !rule.MatchString(v) {
			return fmt.Errorf("%s/ is %q, want a match of %s", at, v, rule)
		}
	case float64:
		if name == "minLength" && utf8.RuneCountInString(v) < int(rule) {
			return fmt.Errorf("%s/ is %q, want at least %v characters", at, v, rule)
		}
	}
	return nil
}

func (s *Schema) object(name, at string, v map[string]any) error {
	known, _ := s.rules["properties"].(map[string]*Schema)
	switch rule := s.rules[name]; name {
	case "required":
		list, _ := rule.([]any)
		for _, key := range list {
			if _, there := v[fmt.Sprint(key)]; !there {
				return fmt.Errorf("%s/%v is missing", at, key)
			}
		}
	case "properties", "additionalProperties", "propertyNames":
		other, _ := rule.(*Schema)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			part, value := known[key], v[key]
			switch {
			case name == "propertyNames":
				part, value = other, any(key)
			case name == "additionalProperties" && part != nil:
				continue
			case name == "additionalProperties":
				part = other
			}
			if part == nil {
				continue
			}
			if err := part.check(at+"/"+key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}
