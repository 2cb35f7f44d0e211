package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// Merge judges the answers of all shards of a run as the answers of one run: it proves that they are its questions,
// each once, takes the sequential gate's stages from them, and recomputes every statistic over all cells. Nothing is
// asked. Its error says that there is no judgement: suite.ErrShards, *suite.MissingError.
func (j Job) Merge(ctx context.Context, parts []suite.Part, notes []string) (Done, error) {
	began := time.Now()
	var d Done
	if len(parts) == 0 {
		return d, suite.ErrShards
	}
	if j.Shown == nil {
		j.Shown = func(p string) string { return p }
	}
	settings, err := j.sharedSettings(&d, parts)
	if err != nil {
		return d, err
	}
	if j.taken, err = takenFrom(parts, d.Plan, j.Budget, d.Golden); err != nil {
		return d, err
	}
	if j.Result != nil {
		if err := j.Result(suite.MergeBegun(pillar)); err != nil {
			return d, err
		}
	}
	if err := j.ledgerSettings(settings); err != nil {
		return d, err
	}
	for _, p := range parts {
		var end shardEnd
		if err := json.Unmarshal(p.End, &end); err == nil && end.Replicas != nil {
			d.replicas = *end.Replicas
		}
	}
	if d.Observations, err = j.send(ctx, &d, nil, d.Plan.Cells, j.answered(d.Plan.Cells, 0), 0); err != nil {
		return d, err
	}
	d.Repeats = [][]recall.Observation{d.Observations}
	if err := j.decide(ctx, &d, nil); err != nil {
		return d, err
	}
	d.Report = j.head(d, began)
	d.Report.Plan = []string{fmt.Sprintf("%d shards with %d answers; the gate took %d of them", len(parts), len(j.taken),
		len(d.Observations))}
	if err := report.WriteHead(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	j.body(&d)
	factor, err := shardFactor(parts, d.Observations)
	if err != nil {
		return d, err
	}
	d.Report.Facts = append(d.Report.Facts, report.Fact{
		Label: "shards", Text: strings.Join(append([]string{factor}, notes...), "\n"),
	})
	d.Report.Elapsed = time.Since(began)
	if err := report.WriteBody(j.Out, d.Report, j.Style); err != nil {
		return d, err
	}
	if j.Dir != "" {
		if err := report.WriteAll(j.Dir, d.Report, report.Redact(j.Secret)); err != nil {
			return d, err
		}
	}
	return d, j.ledgerGates(d.Judgement)
}

// sharedSettings takes what the shards share into j and d.
func (j *Job) sharedSettings(d *Done, parts []suite.Part) (Settings, error) {
	past, err := ReadPast(parts[0].Folder)
	if err != nil {
		return Settings{}, err
	}
	var own shardOwn
	if err := json.Unmarshal(parts[0].Own, &own); err != nil {
		return Settings{}, fmt.Errorf("%s: what the shard knew of its server cannot be read: %w", parts[0].Folder, err)
	}
	if j.Client, err = endpoint.New(endpoint.Options{BaseURL: own.Root, APIKey: j.Secret}); err != nil {
		return Settings{}, err
	}
	j.Title, j.Deterministic = "merge of "+own.Title, own.Deterministic
	s := past.Settings
	j.Budget, d.Flight, d.Server = s.Budget, own.Flight, s.Server
	if is := j.Haystack.Name + " " + j.Haystack.SHA256; is != s.Haystack {
		return s, fmt.Errorf("the shards hid needles in %q, and ASSAY_HAYSTACK is %q now: set it as they had it: %w",
			s.Haystack, is, suite.ErrShards)
	}
	if d.Plan, err = recall.NewPlan(j.Budget, s.Window); err != nil {
		return s, err
	}
	if j.Keep != nil {
		d.Plan = d.Plan.Only(j.Keep)
	}
	if d.Golden, err = j.golden(s.Model); err != nil {
		return s, err
	}
	j.Shard = suite.Shard{Index: parts[0].Index, Count: parts[0].Count}
	mine, err := j.shardRecord(*d)
	if err != nil {
		return s, err
	}
	if was, is := parts[0].Same["golden"], mine.Same["golden"]; was != is {
		return s, fmt.Errorf("the golden is not the one that the shards had (sha256 %s, now %s): merge with the same "+
			"ASSAY_GOLDENS and checkout: %w", was, is, suite.ErrShards)
	}
	return s, nil
}

// takenFrom are the answers of all shards by cell, once it is proved that they are those of the plan, each once.
func takenFrom(parts []suite.Part, plan recall.Plan, b recall.Budget, golden *recall.Golden,
) (map[string]recall.Observation, error) {
	cells, unit := fixedPlan(plan, b, golden).Cells, map[string]string{}
	var want []string
	for _, c := range cells {
		want, unit[c.ID] = append(want, c.ID), c.ShardUnit()
	}
	id := func(r suite.Result) (string, bool) {
		var a answer
		err := json.Unmarshal(r.Detail, &a)
		return r.Case, err == nil && a.Class != ""
	}
	part := func(cell string) int { return suite.PartOf(unit[cell], parts[0].Count) }
	if err := suite.Once(parts, want, id, part); err != nil {
		return nil, err
	}
	out := map[string]recall.Observation{}
	for _, p := range parts {
		past, err := ReadPast(p.Folder)
		if err != nil {
			return nil, err
		}
		for _, a := range past.Answers {
			o := a.Observation
			o.Prompt = past.prompt(o.Stored)
			o.Stored = "" // the request lies in the shard's folder, which the curl line names
			out[o.Cell.ID] = o
		}
	}
	return out, nil
}

// answered is what need not be asked: what the shards answered, or the run that is continued.
func (j Job) answered(cells []recall.Cell, repeat int) map[string]recall.Observation {
	if j.taken == nil {
		return j.Past.answered(cells, repeat)
	}
	out := map[string]recall.Observation{}
	for _, c := range cells {
		if o, ok := j.taken[c.ID]; ok {
			o.Cell = c
			out[c.ID] = o
		}
	}
	return out
}

// shardFactor tests whether one shard loses more than the others: Fisher's exact test of each against the rest,
// one-sided, Holm over the shards at 1 %. Cells are dealt by hash: shards differ in what they ask by chance alone.
func shardFactor(parts []suite.Part, obs []recall.Observation) (string, error) {
	n := parts[0].Count
	lost, of := make([]int, n), make([]int, n)
	allLost, all := 0, 0
	for _, o := range obs {
		if o.Measured {
			k := suite.PartOf(o.Cell.ShardUnit(), n)
			of[k]++
			all++
			if !o.Hit {
				lost[k]++
				allLost++
			}
		}
	}
	p := make([]float64, n)
	for k := range p {
		var err error
		if p[k], err = stat.FisherExact(lost[k], of[k]-lost[k], allLost-lost[k], all-of[k]-(allLost-lost[k]),
			stat.Greater); err != nil {
			return "", err
		}
	}
	adjusted, err := stat.Holm(p)
	if err != nil {
		return "", err
	}
	worst := 0
	for k := range adjusted {
		if adjusted[k] < adjusted[worst] {
			worst = k
		}
	}
	if adjusted[worst] <= 0.01 {
		return fmt.Sprintf("shard %d/%d loses %d of %d, the others %d of %d (Fisher's exact test, p %.2g after Holm): its "+
			"machine or its server differs from theirs", worst, n, lost[worst], of[worst], allLost-lost[worst],
			all-of[worst], adjusted[worst]), nil
	}
	return fmt.Sprintf("%d shards, %d to %d answers each; none loses more than the others (smallest p %.2g after Holm)", n,
		slices.Min(of), slices.Max(of), adjusted[worst]), nil
}
