// Package study answers questions from results: it judges claims, and finds which sentences of a paper hold.
//
//	archive := study.NewArchive("notebooks/results", paper.Known)
//	answers, err := study.Answer(archive, paper.Sentences)
//	...
//	fmt.Print(study.Table(answers))
//
// A [Claim] is a statement about the number that a [Simulator] gives, such as the ratio of the regrets of two agents.
// Its test makes a [Finding]: an estimate with an interval, and a [Verdict]. A [Sentence] states several comparisons
// that must all be true. [Answer] reports for several sentences together whether each holds, does not hold, or is open.
// An [Archive] is a folder of results. [Tradeoffs] shows which agents have the least regret at their cost.
package study

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Archive is a folder of results. Each folder within it has the pieces of one study, as files FILE.jsonl.gz. An Archive
// caches the studies that it has read. It is not safe for concurrent use.
type Archive struct {
	dir     string
	known   map[string]lab.Experiment
	studies map[string]results
}

type results struct {
	header lab.Header
	rows   []lab.Row
}

// NewArchive returns the archive of a folder with results of the known experiments.
func NewArchive(dir string, known map[string]lab.Experiment) *Archive {
	return &Archive{dir: dir, known: known, studies: map[string]results{}}
}

// File returns the path of a file in the archive.
func (a *Archive) File(name string) string { return filepath.Join(a.dir, filepath.FromSlash(name)) }

// Study returns the results in a folder of the archive, such as "neural/long-200". There are no rows if the folder has
// no pieces.
func (a *Archive) Study(folder string) (lab.Header, []lab.Row, error) {
	if r, ok := a.studies[folder]; ok {
		return r.header, r.rows, nil
	}
	pieces, err := filepath.Glob(a.File(folder + "/*.jsonl.gz"))
	if err != nil || len(pieces) == 0 {
		return lab.Header{}, nil, err
	}
	h, rows, err := analysis.Read(a.known, pieces...)
	if err == nil {
		a.studies[folder] = results{h, rows}
	}
	return h, rows, err
}

// Source identifies the runs of an agent in an archive.
type Source struct {
	Folder  string // folder in the archive
	Agent   string
	Sets    []string // "key=value" texts that distinguish its entry from other entries of the agent
	Periods int
	Runs    int // number of runs that are needed
}

// Runs holds the results of an agent's runs.
type Runs struct {
	Regret   map[uint64]float64 // cumulative regret at the last period, by seed
	Diverged int
}

// missing is the error about runs that the archive does not have yet.
type missing struct {
	source Source
	found  int
}

func (m missing) Error() string {
	return fmt.Sprintf("%d of %d runs of agent %s are in %s", m.found, m.source.Runs, m.source.Agent, m.source.Folder)
}

// Runs reads the runs of a source. If there are more runs than needed, it takes those with the lowest seeds. If there
// are fewer, it returns an error.
func (a *Archive) Runs(s Source) (Runs, error) {
	h, rows, err := a.Study(s.Folder)
	if err != nil {
		return Runs{}, err
	}
	entry, err := s.entry(h)
	if err != nil {
		return Runs{}, err
	}
	last := map[uint64]lab.Row{}
	for _, r := range rows {
		if r.Entry == entry && r.Period == s.Periods {
			last[r.Seed] = r
		}
	}
	if len(last) < s.Runs {
		return Runs{}, missing{s, len(last)}
	}
	out := Runs{Regret: map[uint64]float64{}}
	for _, seed := range slices.Sorted(maps.Keys(last))[:s.Runs] {
		r := last[seed]
		if out.Regret[seed] = float64(r.Regret); math.IsNaN(float64(r.Regret)) || math.IsInf(float64(r.Regret), 0) {
			return Runs{}, fmt.Errorf("%s of %s: the regret of seed %d is not a finite number", s.Agent, s.Folder, seed)
		}
		if r.Diverged > 0 {
			out.Diverged++
		}
	}
	return out, nil
}

// entry returns the number of the one entry that the source identifies, or -1 if there is none.
func (s Source) entry(h lab.Header) (int, error) {
	found := -1
	for i, e := range h.Spec.Entries {
		values := catalog.Values(e.Setting)
		differs := func(set string) bool {
			key, value, _ := strings.Cut(set, "=")
			return fmt.Sprint(values[key]) != value
		}
		if e.Agent != s.Agent || slices.ContainsFunc(s.Sets, differs) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s has several entries of agent %s with %v: add settings that identify "+
				"one", s.Folder, s.Agent, s.Sets)
		}
		found = i
	}
	return found, nil
}
