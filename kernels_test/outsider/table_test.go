package outsider_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// table is faults.json.
type table struct {
	Faults []fault `json:"faults"`
	Sound  []sound `json:"sound"`
}

// fault is one wrong kernel: Class is the cause that an engineer would name, Also those that are as right, Batch when
// it was frozen: 2 after the first batch had run.
type fault struct {
	ID       string   `json:"id"`
	Operator string   `json:"operator"`
	Facets   string   `json:"facets"`
	Effect   string   `json:"effect"`
	Source   string   `json:"source"`
	Class    string   `json:"class"`
	Also     []string `json:"also"`
	Batch    int      `json:"batch"`
}

// sound is a right kernel that computes otherwise; Hello is what it declares beside the dtypes.
type sound struct {
	Operator string         `json:"operator"`
	Variant  string         `json:"variant"`
	What     string         `json:"what"`
	Hello    map[string]any `json:"hello"`
}

func (f fault) public() bool { return f.Source != "invented" }

func readTable(t *testing.T) table {
	t.Helper()
	data, err := os.ReadFile("faults.json")
	if err != nil {
		t.Fatal(err)
	}
	var out table
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The table has as many rows as the bar needs, every class is a published one, every public fault names its report.
func TestTable(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(filepath.Join("..", ".."), "docs", "catalogue.json"))
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Classes map[string]string `json:"classes"`
	}
	if err := json.Unmarshal(data, &published); err != nil {
		t.Fatal(err)
	}
	rows, seen, public := readTable(t), map[string]bool{}, 0
	report := regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+$`)
	for _, f := range rows.Faults {
		if seen[f.ID] || f.Operator == "" || f.Effect == "" || f.Facets == "" {
			t.Errorf("fault %q is there twice or lacks operator, effect or facets", f.ID)
		}
		seen[f.ID] = true
		for _, class := range append([]string{f.Class}, f.Also...) {
			if published.Classes[class] == "" {
				t.Errorf("fault %q: class %q is not in docs/catalogue.json", f.ID, class)
			}
		}
		if f.public() {
			public++
			if !report.MatchString(f.Source) {
				t.Errorf("fault %q: source %q is neither owner/name#number nor invented", f.ID, f.Source)
			}
		}
	}
	for _, s := range rows.Sound {
		id := s.Operator + "=" + s.Variant
		if seen[id] || s.What == "" {
			t.Errorf("sound variant %q is there twice or says nothing", id)
		}
		seen[id] = true
	}
	if public < 25 || len(rows.Faults)-public < 15 || len(rows.Sound) < 40 {
		t.Errorf("%d public faults, %d invented ones, %d sound variants; the bar needs 25, 15 and 40",
			public, len(rows.Faults)-public, len(rows.Sound))
	}
}
