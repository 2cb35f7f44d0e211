package checkpoint

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/safetensors"
)

// compare holds the index against the opened shards, both ways.
func (p *patient) compare(ix *shardIndex, opened map[string]*safetensors.File) {
	for _, name := range ix.repeated {
		p.add(Certain, KindIndexStale, []string{name}, "the weight_map lists %s twice, so readers disagree on its shard; "+
			"write the index again from the shards", name)
	}
	found := 0
	for _, t := range p.tensors {
		shard, listed := ix.shardOf[t.stored]
		switch {
		case !listed:
			p.add(Certain, KindUnlisted, []string{t.stored}, "%s holds %s, which the weight_map does not list, so loaders will "+
				"not see it; write the index again from the shards", t.file.Name(), t.stored)
		case opened[shard] == t.file:
			found++
		}
	}
	if found < len(ix.names) {
		p.astray(ix, opened)
	}
	if ix.totalSize >= 0 && ix.totalSize != p.held && len(p.lost) == 0 {
		// No loader reads it, and writers differ: ml-explore/mlx-examples#413 summed the sizes of the files.
		p.add(Look, KindTotalSize, nil, "metadata.total_size is %d, but the tensors of %d shards have %d bytes; write the "+
			"index again from the shards", ix.totalSize, len(opened), p.held)
	}
}

// astray looks for every listed tensor that is not in its shard.
func (p *patient) astray(ix *shardIndex, opened map[string]*safetensors.File) {
	for _, name := range ix.names {
		shard := ix.shardOf[name]
		f := opened[shard]
		if f == nil {
			continue // the shard itself has been blamed
		}
		if _, held := f.Tensor(name); held {
			continue
		}
		if where := holder(opened, name); where != "" {
			p.add(Certain, KindIndexWrongShard, []string{name}, "the weight_map puts %s into %s, but %s holds it; write the "+
				"index again from the shards", name, shard, where)
			continue
		}
		p.add(Certain, KindIndexStale, []string{name}, "the weight_map puts %s into %s, and no shard holds it; the index is "+
			"of another export: write it again from the shards, or fetch the shard again", name, shard)
	}
}

func holder(opened map[string]*safetensors.File, name string) string {
	for _, shard := range slices.Sorted(maps.Keys(opened)) {
		if _, held := opened[shard].Tensor(name); held {
			return shard
		}
	}
	return ""
}
