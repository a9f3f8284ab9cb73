// Package study answers questions by results that lie in a folder, such as notebooks/results: a [Sentence] says what is
// claimed and which runs it compares, and [Answer] says of several sentences together whether each holds, does not hold,
// or is open.
//
//	archive := study.NewArchive("notebooks/results", paper.Known)
//	answers, err := study.Answer(archive, paper.Sentences)
package study

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Archive is a folder of results: in each folder within it the pieces of one study, FILE.jsonl.gz. What is read is kept.
// An Archive is not safe for concurrent use.
type Archive struct {
	dir     string
	known   map[string]lab.Experiment
	studies map[string]results
}

type results struct {
	header lab.Header
	rows   []lab.Row
}

// NewArchive returns the archive of a folder, with results of known experiments.
func NewArchive(dir string, known map[string]lab.Experiment) *Archive {
	return &Archive{dir: dir, known: known, studies: map[string]results{}}
}

// File is the path of a file in the archive.
func (a *Archive) File(name string) string { return filepath.Join(a.dir, filepath.FromSlash(name)) }

// Study returns the results in a folder of the archive, such as "neural/long-200": without rows where there are none.
func (a *Archive) Study(folder string) (lab.Header, []lab.Row, error) {
	if r, ok := a.studies[folder]; ok {
		return r.header, r.rows, nil
	}
	pieces, err := filepath.Glob(a.File(folder + "/*.jsonl.gz"))
	if err != nil || len(pieces) == 0 {
		return lab.Header{}, nil, err
	}
	h, rows, err := lab.ReadStudy(a.known, pieces...)
	if err == nil {
		a.studies[folder] = results{h, rows}
	}
	return h, rows, err
}

// Source says where the runs of an agent are.
type Source struct {
	Folder  string // of the archive
	Agent   string
	Sets    []string // "key=value" texts that tell its entry from others of the agent
	Periods int
	Runs    int // the number of runs that are asked for
}

// Runs are the runs of an agent.
type Runs struct {
	Regret   map[uint64]float64 // cumulative regret at the last period, by seed
	Diverged int
}

// missing is the error about runs that are not there yet.
type missing struct {
	source Source
	there  int
}

func (m missing) Error() string {
	return fmt.Sprintf("%d of %d runs of agent %s are in %s", m.there, m.source.Runs, m.source.Agent, m.source.Folder)
}

// Runs reads the runs of a source: those with the lowest seeds where there are more than it asks for. Fewer are an
// error.
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
			return Runs{}, fmt.Errorf("%s of %s: the regret of seed %d is no finite number", s.Agent, s.Folder, seed)
		}
		if r.Diverged > 0 {
			out.Diverged++
		}
	}
	return out, nil
}

// entry is the number of the one entry that the source means, or -1.
func (s Source) entry(h lab.Header) (int, error) {
	found := -1
	for i, e := range h.Spec.Entries {
		values := lab.Values(e.Setting)
		differs := func(set string) bool {
			key, value, _ := strings.Cut(set, "=")
			return fmt.Sprint(values[key]) != value
		}
		if e.Agent != s.Agent || slices.ContainsFunc(s.Sets, differs) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s has several entries of agent %s with %v: name more settings", s.Folder, s.Agent, s.Sets)
		}
		found = i
	}
	return found, nil
}
