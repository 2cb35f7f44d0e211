package checkpoint

import (
	"errors"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

const (
	singleFile  = "model.safetensors"
	fileSuffix  = ".safetensors"
	indexSuffix = ".safetensors.index.json"
)

func isIndex(name string) bool { return strings.HasSuffix(name, indexSuffix) }

// shardName is how the Hugging Face libraries number the shards of a split checkpoint.
var shardName = regexp.MustCompile(`-\d{5}-of-\d{5}\.safetensors$`)

// tensor is one name of the checkpoint; info and file are nil where only the index mentions it.
type tensor struct {
	stored, canon, class string
	layer, expert        int
	mtp                  bool
	info                 *safetensors.Info
	file                 *safetensors.File
	scan                 result
	weight               *quant.Weight // of the codes, where they can be decoded
	faults               []quant.Fault // why not
	part                 quant.Part    // what it is to a weight; None for codes and for plain tensors
	of                   *tensor       // that weight's codes
	known                bool          // called for by the config
	want                 *Want         // what the config says of it; nil for scales
}

// patient is a checkpoint with everything that has been learnt about it.
type patient struct {
	ledger
	fsys       fs.FS
	index      *shardIndex
	files      []*safetensors.File
	tensors    []*tensor          // in the order of shards and bytes
	byCanon    map[string]*tensor //
	lost       map[string]bool    // shards that could not be opened: their tensors are excused
	lostNames  map[string]bool    // canonical names in lost shards
	config     *Config
	rawConfig  []byte
	byModule   map[string]*tensor  // canonical name of a plain weight to what holds it
	loose      bool                // Options.Reference
	sizes      map[*tensor]float64 // log2 of the root mean square of a corner
	known      *tokens             // nil before the tokenizer was read
	plan       *quant.Plan
	stamps     map[string]stamp
	shelf      shelf               // tensors by stored name
	missed     map[string]bool     // canonical names reported as missing
	peerOf     map[string]*tensor  // class to one of its tensors
	schemes    map[string]siblings // class of a weight to the scales beside most of its members
	skipped    []string
	constant   map[string][2]int // class to tensors, and those of one value
	blamed     map[*tensor]bool  // weights whose magnitude has been reported
	deviations []Deviation
	bytes      int64 // of tensors, each once
	held       int64 // of tensors, as often as they are stored
	started    time.Time
}

// load opens index and shards and holds them against each other.
func (p *patient) load(progress func(Progress)) error {
	ix, name, err := readIndex(p.fsys)
	if name == "" && err != nil {
		return err
	}
	if err != nil {
		p.add(Certain, KindIndexUnreadable, nil, "%s: %v", name, err)
	}
	p.index = ix
	var shards []string
	switch {
	case ix != nil:
		shards = slices.Clone(ix.shards)
		p.strays(ix)
	case name != "":
		shards = p.numbered()
	default:
		shards = p.unindexed()
	}
	if len(shards) == 0 {
		return fitness(p.fsys, "the folder")
	}
	slices.Sort(shards)
	opened := openAll(p.fsys, shards)
	byName := map[string]*safetensors.File{}
	for i, o := range opened {
		if o.err != nil {
			if ix == nil && name == "" && len(shards) == 1 {
				return o.err // nothing but this file: the folder is no checkpoint
			}
			p.unopened(shards[i], o.err)
			continue
		}
		byName[shards[i]] = o.file
		p.stamps[o.file.Name()], err = p.stamped(o.file.Name())
		if err != nil {
			return err
		}
		p.files = append(p.files, o.file)
		p.enter(o.file)
		tell(progress, "headers", int64(i+1), int64(len(shards)), p.started)
	}
	if ix != nil {
		p.compare(ix, byName)
	}
	return nil
}

// openedFile is a shard or why there is none.
type openedFile struct {
	file *safetensors.File
	err  error
}

// openAll reads the headers of all shards, which are most of the work on a checkpoint's names.
func openAll(fsys fs.FS, shards []string) []openedFile {
	out := make([]openedFile, len(shards))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(shards)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(shards); i = next.Add(1) - 1 {
				out[i].file, out[i].err = safetensors.OpenFS(fsys, shards[i])
			}
		})
	}
	wg.Wait()
	return out
}

// unopened blames a shard that is not there or not whole.
func (p *patient) unopened(shard string, err error) {
	p.lost[shard] = true
	if errors.Is(err, fs.ErrNotExist) {
		p.add(Certain, KindShardMissing, nil, "the index names %q, which is not in the folder; fetch it", shard)
		return
	}
	p.add(Certain, KindShardBroken, nil, "%q cannot be read as a shard: %v", shard, err)
}

// enter adds the tensors of a shard.
func (p *patient) enter(f *safetensors.File) {
	for _, name := range f.Names() {
		info, _ := f.Tensor(name)
		made := p.newTensor(name)
		t := &made
		t.info, t.file = &info, f
		p.held += info.Size
		other := p.byCanon[t.canon]
		switch {
		case other == nil:
			p.byCanon[t.canon] = t
		case other.stored == t.stored:
			p.add(Certain, KindTwoShards, []string{name}, "%s is in %s and in %s, and readers disagree on which one counts; "+
				"remove one and write the index again", name, other.file.Name(), f.Name())
			continue
		default:
			p.add(Certain, KindTwoSpellings, []string{other.stored, name}, "%s and %s both mean %s; remove one of the two",
				other.stored, name, t.canon)
			continue
		}
		p.tensors = append(p.tensors, t)
		p.bytes += info.Size
	}
}

// newTensor places a name. Layers behind the config's last are the MTP layers of the Hugging Face spelling
// and peers of each other only.
func (p *patient) newTensor(stored string) tensor {
	t := tensor{stored: stored, canon: Canonical(stored)}
	var rest string
	t.layer, t.mtp, t.expert, rest = place(t.canon)
	switch {
	case t.layer < 0:
		t.class = Class(t.canon)
	case t.mtp:
		t.class = "mtp.*." + rest
	case p.config != nil && p.config.Layers > 0 && t.layer >= p.config.Layers:
		t.class = "mtp.layers.*." + rest
	default:
		t.class = "layers.*." + rest
	}
	return t
}

// numbered lists shard files by their names, for a folder whose index cannot be read.
func (p *patient) numbered() []string {
	entries, err := fs.ReadDir(p.fsys, ".")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if shardName.MatchString(e.Name()) || e.Name() == singleFile {
			out = append(out, e.Name())
		}
	}
	return out
}

// unindexed lists the files of a folder without an index: model.safetensors, the only safetensors file, or shards that
// are numbered and have lost their index.
func (p *patient) unindexed() []string {
	entries, err := fs.ReadDir(p.fsys, ".")
	if err != nil {
		return nil
	}
	var all, shards []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == singleFile:
			return []string{singleFile}
		case shardName.MatchString(name):
			shards = append(shards, name)
			fallthrough
		case strings.HasSuffix(name, fileSuffix) && whatIs(name) == "one safetensors file":
			all = append(all, name)
		}
	}
	if len(shards) > 1 {
		p.add(Certain, KindIndexUnreadable, nil, "the folder holds %d numbered shards and no index, so loaders cannot tell "+
			"whether all are there; fetch %s", len(shards), "model"+indexSuffix)
		return shards
	}
	if len(all) > 1 {
		p.add(Look, KindShardUnlisted, nil, "the folder holds %d safetensors files and no index (%s and others): all were "+
			"examined as one checkpoint", len(all), all[0])
	}
	return all
}

// strays reports shard files that no index of the folder names. Some folders hold the weights twice, each copy with an
// index of its own (Mistral's consolidated.safetensors.index.json).
func (p *patient) strays(ix *shardIndex) {
	named := slices.Clone(ix.shards)
	entries, err := fs.ReadDir(p.fsys, ".")
	for _, e := range entries {
		if err != nil || !isIndex(e.Name()) {
			continue
		}
		if raw, err := fs.ReadFile(p.fsys, e.Name()); err == nil {
			if other, err := parseIndex(raw); err == nil {
				named = append(named, other.shards...)
			}
		}
	}
	for _, name := range p.numbered() {
		if !slices.Contains(named, name) {
			p.add(Certain, KindShardUnlisted, nil, "%q lies in the folder, but the index does not name it: index and "+
				"shards are of different exports; remove the file or write the index again", name)
		}
	}
}

func tell(progress func(Progress), stage string, done, total int64, started time.Time) {
	if progress != nil {
		progress(Progress{Stage: stage, Done: done, Total: total, Elapsed: time.Since(started)})
	}
}
