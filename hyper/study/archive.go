// Package study answers questions from results: it judges claims, and finds which sentences of a paper hold.
//
//	archive := study.NewArchive("notebooks/results", paper.Known)
//	answers, err := study.Answers(archive, paper.Sentences)
//	...
//	fmt.Print(study.AnswersTable(answers))
//
// A [Comparison] is a number that compares agents, such as the ratio of their regrets, with an interval and the range
// in which it is claimed to lie. A [Claim] is about one comparison, in results of a [Simulator]; its test gives a
// [Finding], which has a [Verdict]. A [Sentence] states several comparisons that must all be true, in results of an
// [Archive]: a folder with studies. [Answers] reports for several sentences together whether each holds, does not hold,
// or is open.
package study

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Archive is a folder of results. Each folder within it has the pieces of one study, as files FILE.jsonl.gz. An Archive
// caches the studies that it has read. It is not safe for concurrent use.
type Archive struct {
	// Mix, if not nil, allows a study whose pieces different code made, see [analysis.Reader].
	Mix func(why error)

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
	pieces, err := filepath.Glob(a.File(folder + "/*.gz"))
	if err != nil || len(pieces) == 0 {
		return lab.Header{}, nil, err
	}
	h, rows, err := analysis.Reader{Mix: a.Mix}.Read(a.known, pieces...)
	if err == nil {
		a.studies[folder] = results{h, rows}
	}
	return h, rows, err
}

// folders returns the folders of the studies of an experiment: the folder with its name, and the folders within it,
// which are separate studies because results of different code are not joined.
func (a *Archive) folders(experiment string) (all []string) {
	for _, pattern := range []string{experiment, experiment + "/*"} {
		pieces, _ := filepath.Glob(a.File(pattern + "/*.gz")) // the only possible error is about the pattern
		for _, piece := range pieces {
			folder, _ := filepath.Rel(a.dir, filepath.Dir(piece))
			if folder = filepath.ToSlash(folder); !slices.Contains(all, folder) {
				all = append(all, folder)
			}
		}
	}
	return all
}

// Require returns an error if the archive has no study of any of the experiments.
func (a *Archive) Require(experiments ...string) error {
	if slices.ContainsFunc(experiments, func(name string) bool { return a.folders(name) != nil }) {
		return nil
	}
	if _, err := os.Stat(a.dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such folder", a.dir)
	}
	return fmt.Errorf("%s: found no results in folders named after experiments, such as %s", a.dir,
		a.File(experiments[0]+"/*.gz"))
}

// simulators returns a Simulator for each study of an experiment. It finds runs in the study, and simulates nothing.
func (a *Archive) simulators(x lab.Experiment) (all []Simulator, err error) {
	for _, folder := range a.folders(x.Name) {
		h, rows, err := a.Study(folder)
		if err != nil {
			return nil, err
		}
		if h.Spec.Experiment != x.Name {
			return nil, fmt.Errorf("%s has results of experiment %s, not of %s", a.File(folder), h.Spec.Experiment, x.Name)
		}
		all = append(all, analysis.Lookup(x, h, rows))
	}
	return all, nil
}
