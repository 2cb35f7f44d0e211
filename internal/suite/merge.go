package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MissingError says which parts of a run are not there, or only half: nothing wrong was given, and not enough.
type MissingError struct{ What []string }

// Error is the sentence.
func (m *MissingError) Error() string {
	return fmt.Sprintf("not every shard is there: %s; run what is missing, and merge again", strings.Join(m.What, "; "))
}

// ReadParts reads the shards of a pillar from what a comma list of globs names, in the order of their index, and proves
// that they are the parts of one run, each once. A half-written shard that has a whole one beside it was restarted: it
// is left out, and notes says so. ErrShards says what does not fit together, a *MissingError what is not there.
func ReadParts(pillar, patterns string) (parts []Part, notes []string, err error) {
	folders, err := RunFolders(patterns)
	if err != nil {
		return nil, nil, err
	}
	var all []Part
	for _, folder := range folders {
		p, is, err := ReadPart(pillar, folder)
		if err != nil {
			return nil, nil, err
		}
		if p.Merged {
			continue
		}
		if !is {
			return nil, nil, fmt.Errorf("%s is a run and no shard of %s: leave it out: %w", folder, pillar, ErrShards)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%q holds no run folder, which has a %s: %w", patterns, LedgerFile, ErrShards)
	}
	if err := alike(all); err != nil {
		return nil, nil, err
	}
	n := all[0].Count
	by := make([][]Part, n)
	for _, p := range all {
		if p.Index < 0 || p.Index >= n {
			return nil, nil, fmt.Errorf("%s says that it is shard %d of %d: %w", p.Folder, p.Index, n, ErrShards)
		}
		by[p.Index] = append(by[p.Index], p)
	}
	missing := &MissingError{}
	for i, same := range by {
		whole := slices.DeleteFunc(slices.Clone(same), func(p Part) bool { return !p.Done })
		switch {
		case len(whole) > 1:
			err = errors.Join(err, fmt.Errorf("shard %d/%d is there twice, %s and %s: leave one out: %w", i, n, whole[0].Folder,
				whole[1].Folder, ErrShards))
		case len(whole) == 1:
			parts = append(parts, whole[0])
			for _, p := range same {
				if !p.Done {
					notes = append(notes, fmt.Sprintf("%s is half-written and not used: shard %d/%d was restarted as %s", p.Folder, i,
						n, whole[0].Folder))
				}
			}
		case len(same) > 0:
			missing.What = append(missing.What, fmt.Sprintf("shard %d/%d is half-written in %s", i, n, same[len(same)-1].Folder))
		default:
			missing.What = append(missing.What, fmt.Sprintf("shard %d/%d is missing", i, n))
		}
	}
	if err == nil && len(missing.What) > 0 {
		err = missing
	}
	return parts, notes, err
}

// alike returns an error that names the first two parts that cannot be of one run.
func alike(all []Part) error {
	own, err := ownHash()
	if err != nil {
		return err
	}
	a := all[0]
	for _, b := range all {
		differ := func(what, was, is string) error {
			return fmt.Errorf("%s and %s are shards of different runs: %s is %q in the first and %q in the second: %w", a.Folder,
				b.Folder, what, was, is, ErrShards)
		}
		if a.Count != b.Count {
			return differ("the number of shards", fmt.Sprint(a.Count), fmt.Sprint(b.Count))
		}
		if a.Binary != b.Binary {
			return differ("the test binary's sha256", short(a.Binary), short(b.Binary))
		}
		for _, k := range slices.Sorted(maps.Keys(a.Same)) {
			if a.Same[k] != b.Same[k] {
				return differ(k, a.Same[k], b.Same[k])
			}
		}
		if len(a.Same) != len(b.Same) {
			return differ("what is recorded of the run", fmt.Sprint(len(a.Same)), fmt.Sprint(len(b.Same)))
		}
	}
	if a.Binary != own {
		return fmt.Errorf("the shards were run by a test binary with sha256 %s, and this one has %s: merge with the binary "+
			"that ran them: %w", short(a.Binary), short(own), ErrShards)
	}
	return nil
}

func short(hash string) string { return hash[:min(16, len(hash))] }

// Once proves that the cases of parts are exactly those that want names, each in one part and once. part tells which
// shard a case belongs to.
func Once(parts []Part, want []string, id func(Result) (string, bool), part func(string) int) error {
	wanted, seen := map[string]bool{}, map[string]string{}
	for _, w := range want {
		wanted[w] = true
	}
	var errs []error
	for _, p := range parts {
		for _, r := range p.Results {
			name, counts := id(r)
			if !counts {
				continue
			}
			before, twice := seen[name]
			seen[name] = p.Folder
			switch {
			case twice:
				errs = append(errs, fmt.Errorf("%s is there twice, in %s and %s: %w", name, before, p.Folder, ErrShards))
			case !wanted[name]:
				errs = append(errs, fmt.Errorf("%s has %s, which is no case of this run: %w", p.Folder, name, ErrShards))
			case part(name) != p.Index:
				errs = append(errs, fmt.Errorf("%s has %s, which belongs to shard %d: %w", p.Folder, name, part(name), ErrShards))
			}
			if len(errs) == 3 { // enough to see what went wrong
				return errors.Join(errs...)
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	var lost []string
	for _, w := range want {
		if _, have := seen[w]; !have {
			lost = append(lost, w)
		}
	}
	if len(lost) > 0 {
		return &MissingError{[]string{fmt.Sprintf("%d of %d cases have no result, first %s of shard %d", len(lost), len(want),
			lost[0], part(lost[0]))}}
	}
	return nil
}

// PartOf is the shard that a case belongs to, of n.
func PartOf(caseID string, n int) int { return int(Seed(caseID) % uint64(max(n, 1))) }

// MergeVerdict ends a merge that could not be judged: code 3 for what is missing, 2 for what does not fit.
func MergeVerdict(err error) (Code, string) {
	if m := new(MissingError); errors.As(err, &m) {
		return Inconclusive, "inconclusive  " + m.Error()
	}
	if errors.Is(err, ErrShards) {
		return UsageError, "usage: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return UsageError, "usage: " + err.Error()
}
