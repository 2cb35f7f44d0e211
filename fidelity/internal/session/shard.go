package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// pillar is the first segment of this job's cases.
const pillar = "fidelity"

// shardOwn is what a merge needs of a shard beside its answers and what all shards share.
type shardOwn struct {
	Root          string             `json:"root"`
	Flight        endpoint.Preflight `json:"flight"`
	Title         string             `json:"title"`
	Deterministic bool               `json:"deterministic"`
}

// shardEnd is the detail of a shard's last line.
type shardEnd struct {
	Replicas *recall.Replicas `json:"replicas,omitempty"` // of the one shard that asked
}

// replicaUnit is the unit of the questions that are asked again and again: one shard asks them for all.
const replicaUnit = "fidelity/replicas"

// fixedPlan is what shards ask: as no shard can know what the sequential gate will want, all that it may want.
func fixedPlan(whole recall.Plan, b recall.Budget, golden *recall.Golden) recall.Plan {
	if golden == nil {
		return whole
	}
	return whole.Whole(b)
}

// partOf is the shard's part of the plan: whole cells with all their repeats.
func (j Job) partOf(d Done) recall.Plan {
	return fixedPlan(d.Plan, j.Budget, d.Golden).Only(func(c recall.Cell) bool {
		return suite.PartOf(c.ShardUnit(), j.Shard.Count) == j.Shard.Index
	})
}

// shardRecord is the shard's first line.
func (j Job) shardRecord(d Done) (suite.ShardRecord, error) {
	s := j.settings(d)
	golden, err := json.Marshal(d.Golden)
	if err != nil {
		return suite.ShardRecord{}, fmt.Errorf("the golden cannot be hashed: %w", err)
	}
	sum := sha256.Sum256(golden)
	own, err := json.Marshal(shardOwn{j.Client.Root(), d.Flight, j.Title, j.Deterministic})
	return suite.ShardRecord{
		Index: j.Shard.Index, Count: j.Shard.Count, Own: own,
		Same: map[string]string{
			"model": s.Model, "haystack": s.Haystack, "budget": string(s.Budget), "context window": fmt.Sprint(s.Window),
			"assay's version": s.Suite, "server": s.Server.Hash, "golden": hex.EncodeToString(sum[:8]),
			"seeds": needleSeeds, "assignment": "FNV-1a of cell",
		},
	}, err
}

const needleSeeds = "PCG by FNV-1a of seed and case ID"

// restarted is the run of this very shard that a restart left unfinished below j.Restarts; nil for none.
func (j Job) restarted(d Done) (*Past, error) {
	if j.Shard.Count == 0 || j.Past != nil || j.Restarts == "" {
		return j.Past, nil
	}
	r, err := j.shardRecord(d)
	if err != nil {
		return nil, err
	}
	folder, err := suite.Unfinished(pillar, j.Restarts, r)
	if err != nil || folder == "" {
		return nil, err
	}
	return ReadPast(folder)
}

// beginShard writes the shard's first line.
func (j Job) beginShard(d Done) error {
	if j.Shard.Count == 0 || j.Result == nil {
		return nil
	}
	r, err := j.shardRecord(d)
	if err != nil {
		return err
	}
	line, err := r.Begun(pillar)
	if err != nil {
		return err
	}
	return j.Result(line)
}

// endShard gives a shard's verdict, which is about requests that failed and nothing else: answers are judged over all
// shards, by Merge.
func (j Job) endShard(d *Done, whole int, took time.Duration) error {
	asked, failed := 0, 0
	for _, o := range d.Observations {
		if o.Measured {
			asked++
		}
		if o.Class == "error" {
			failed++
		}
	}
	jd := recall.Judgement{Code: suite.ShardCode()}
	jd.Verdict = fmt.Sprintf("not judged: shard %s asked %d of its %d questions, of %d in all; `go tool mage merge "+
		"\"DIR/*\"` judges them", j.Shard, asked, len(d.Plan.Cells), whole)
	if failed > 0 {
		jd.Code = suite.ToolError
		jd.Verdict = fmt.Sprintf("engine error: %d requests failed in shard %s", failed, j.Shard)
	}
	d.Judgement = jd
	if j.Result != nil {
		end := shardEnd{}
		if d.replicasAsked {
			end.Replicas = &d.replicas
		}
		line, err := suite.ShardDone(pillar, end)
		if err != nil {
			return err
		}
		if err := j.Result(line); err != nil {
			return err
		}
	}
	return j.writeShard(d, took)
}

// writeShard leaves the report of a shard: its questions, and no gate.
func (j Job) writeShard(d *Done, took time.Duration) error {
	jd := d.Judgement
	d.Report.Elapsed = took
	d.Report.Verdict = report.Verdict{Code: int(jd.Code), Text: jd.Verdict}
	d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "shard", Text: "a part of a run, by hash of the case; " +
		"nothing is concluded from it"})
	d.Report.Cases = j.cases(d, nil)[:len(d.Observations)] // without the gates, which nobody judged
	if j.Dir != "" {
		d.Report.Report = j.Shown(j.Dir) + "/report.html"
	}
	if err := report.WriteBody(j.Out, d.Report, j.Style); err != nil || j.Dir == "" {
		return err
	}
	return report.WriteAll(j.Dir, d.Report, report.Redact(j.Secret))
}
