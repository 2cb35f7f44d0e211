package kernels

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Option changes what Test and Run judge, and what they leave behind.
type Option func(*settings)

type settings struct {
	job       job.Options
	operators []string
	artifacts string
}

// WithSuites judges by these suites in place of assay's own.
func WithSuites(suites ...bench.Suite) Option { return func(s *settings) { s.job.Suites = suites } }

// Operators narrows the run to some operators. One that the candidate does not offer makes the run partial, code 3.
func Operators(names ...string) Option { return func(s *settings) { s.operators = names } }

// Contract demands a contract, by its name, of every operator that has it. Without it the sharpest contract that all
// cases of a facet are accepted under is found.
func Contract(name string) Option { return func(s *settings) { s.job.Contract = name } }

// Shrink looks for a smaller shape that still fails before a failure is written.
func Shrink() Option { return func(s *settings) { s.job.Shrink = true } }

// Artifacts writes report.html, junit.xml, and for each failure a folder with a script that reproduces it without
// assay, into dir. Nothing is written without it.
func Artifacts(dir string) Option {
	return func(s *settings) { s.artifacts, s.job.Repros = dir, filepath.Join(dir, "repros") }
}

func again(command string) Option { return func(s *settings) { s.job.Again = command } }

// Operator names an operator of assay's own suites and what it computes, in a line.
type Operator struct{ Name, Summary string }

// Known lists the operators of assay's own suites, which a candidate can offer.
func Known() []Operator {
	var out []Operator
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			out = append(out, Operator{f.Op, f.Doc.Summary})
		}
	}
	return out
}

// narrowed checks the settings and leaves the operators that were asked for.
func (s *settings) narrowed() error {
	if s.job.Suites == nil {
		s.job.Suites = job.Suites()
	}
	known := map[string]bool{}
	var names []string
	var suites []bench.Suite
	for _, one := range s.job.Suites {
		if err := complete(one); err != nil {
			return err
		}
		one.Families = slices.DeleteFunc(slices.Clone(one.Families), func(f bench.Family) bool {
			if known[f.Op] {
				names = append(names, f.Op)
			}
			known[f.Op] = true
			return len(s.operators) > 0 && !slices.Contains(s.operators, f.Op)
		})
		suites = append(suites, one)
	}
	if len(names) > 0 {
		return fmt.Errorf("two families are of the operator %q: give each its own name", names[0])
	}
	for _, op := range s.operators {
		if !known[op] {
			return fmt.Errorf("no suite has the operator %q; use one of %s", op, strings.Join(sorted(known), ", "))
		}
	}
	s.job.Suites = suites
	return nil
}

// complete says what a suite of somebody's own lacks.
func complete(s bench.Suite) error {
	if len(s.Families) == 0 {
		return fmt.Errorf("suite %q has no family, so there is nothing to judge by", s.Name)
	}
	for _, f := range s.Families {
		var missing []string
		for what, lacks := range map[string]bool{
			"Op": f.Op == "", "Slug": f.Slug == "", "Claim": f.Claim == "", "Contracts": len(f.Contracts) == 0,
			"Draw": f.Draw == nil, "Expect": f.Expect == nil, "Scenarios": len(f.Scenarios) == 0,
		} {
			if lacks {
				missing = append(missing, what)
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			return fmt.Errorf("a family of suite %q, operator %q, lacks %s", s.Name, f.Op, strings.Join(missing, ", "))
		}
	}
	return nil
}

func sorted(set map[string]bool) []string {
	var out []string
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

var errNoCandidate = errors.New("there is no candidate: give a bench.Candidate, such as Worker or bench.FromKernel")
