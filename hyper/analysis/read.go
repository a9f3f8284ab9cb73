// Package analysis reads results of runs and turns their rows into statistics of regret.
//
//	h, rows, err := analysis.Read(paper.Known, "hyper-out/gaussian")
//	...
//	for _, c := range analysis.Curves(h, rows) {
//		fmt.Println(c) // exact: regret 12.3 [10.2, 14.8] after 1000 periods, 20 runs
//	}
//	d, err := analysis.PairedDifference(rows, 0, 1)
//	fmt.Println(d.Ratio) // of the first two entries, on the same seeds
//
// [Read] joins result folders and pieces of studies, [Select] picks entries by their settings, and [Write] writes
// complete results to a file. [Curves], [Summarize] and [Compare] describe each entry; [PairedDifference] and the
// functions beside it compare entries on the seeds that they share. [Lookup] finds the runs that a claim needs.
package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Read reads pieces of a study, or result folders, and joins them. A study is the results of one experiment in pieces.
// A piece is a small file with the header and the rows of some runs at a few periods. Pieces may be made on different
// machines, with different seeds and settings.
//
// Entries with the same agent and settings become one entry, with all their runs. The Spec of the header has all
// entries; its Runs is the largest number of runs of an entry, and its Periods the largest of all pieces. If two pieces
// hold the same run of an entry, they must be of one backend, and their rows must agree, except for the rounding of
// [Write]; the first one counts. Read refuses pieces if results changed between the versions of the code that made
// them, see [Reader]. The error wraps ErrNoRows if the pieces have no rows.
func Read(known map[string]lab.Experiment, paths ...string) (lab.Header, []lab.Row, error) {
	return Reader{}.Read(known, paths...)
}

// Read reads and joins pieces as the function [Read] does, with the options of s.
func (s Reader) Read(known map[string]lab.Experiment, paths ...string) (lab.Header, []lab.Row, error) {
	j := joiner{mix: s.Mix, numbers: map[string]int{}, seen: map[place]lab.Row{}, seeds: map[int]map[uint64]origin{}}
	for _, path := range paths {
		h, rows, err := readPiece(path, known)
		if err == nil {
			err = j.add(path, h, rows)
		}
		if err != nil {
			return j.header, nil, err
		}
	}
	if len(paths) == 0 {
		return j.header, nil, fmt.Errorf("%w: no folder or file of results is named", ErrNoRows)
	}
	if len(j.rows) == 0 {
		return j.header, nil, fmt.Errorf("%s: %w: no run has reached its first period; continue a run "+
			"with `hyper resume`", strings.Join(paths, ", "), ErrNoRows)
	}
	for _, seeds := range j.seeds {
		j.header.Spec.Runs = max(j.header.Spec.Runs, len(seeds))
	}
	if s.Unfinished != nil {
		j.reportUnfinished(s.Unfinished)
	}
	return j.header, j.rows, nil
}

// joiner joins the pieces of a study, one after the other.
type joiner struct {
	mix     func(why error) // as in Reader
	header  lab.Header
	rows    []lab.Row
	pieces  []piece
	made    makers
	numbers map[string]int // number of each entry so far, by its JSON
	seen    map[place]lab.Row
	seeds   map[int]map[uint64]origin // seeds of the runs of each entry
}

// origin is the first piece that has rows of a run, and the backend that made the piece.
type origin struct{ path, backend string }

// piece is what a piece of a study should have: entries by their numbers in the study, and the size of its Spec.
type piece struct {
	path    string
	entries []int
	spec    lab.Spec
}

// place identifies a row of a study.
type place struct {
	entry  int
	seed   uint64
	period int
}

// add joins a piece to the earlier pieces.
func (j *joiner) add(path string, h lab.Header, rows []lab.Row) error {
	if err := j.addHeader(path, h); err != nil {
		return err
	}
	numbers := make([]int, len(h.Spec.Entries))
	for i, e := range h.Spec.Entries {
		var err error
		if numbers[i], err = j.number(e); err != nil {
			return err
		}
	}
	j.pieces = append(j.pieces, piece{path, numbers, h.Spec})
	for _, r := range rows {
		r.Entry = numbers[r.Entry]
		if err := j.addRow(origin{path, h.Backend}, r); err != nil {
			return err
		}
	}
	return nil
}

// reportUnfinished calls report for each piece whose runs are not all complete. Runs may have rows of another piece.
func (j *joiner) reportUnfinished(report func(path string, runs, begun, complete int)) {
	for _, p := range j.pieces {
		begun, complete := 0, 0
		for _, n := range p.entries {
			for run := range p.spec.Runs {
				seed := p.spec.Seed + uint64(run)
				if _, ok := j.seeds[n][seed]; ok {
					begun++
				}
				if _, ok := j.seen[place{n, seed, p.spec.Periods}]; ok {
					complete++
				}
			}
		}
		if runs := len(p.entries) * p.spec.Runs; complete < runs {
			report(p.path, runs, begun, complete)
		}
	}
}

// addHeader joins a piece's header, except for its entries.
func (j *joiner) addHeader(path string, h lab.Header) error {
	if len(j.made) == 0 {
		j.header = h
		j.header.Spec.Entries, j.header.Provenance = nil, h.Code()[0]
	}
	all := &j.header.Spec
	if h.Spec.Experiment != all.Experiment {
		return fmt.Errorf("%s belongs to experiment %s, but the other pieces to %s: read them separately", path,
			h.Spec.Experiment, all.Experiment)
	}
	if why := j.made.add(path, h); why != nil {
		if j.mix == nil {
			return why
		}
		j.mix(why)
	}
	j.header.MadeBy(h.Code()...)
	all.Periods, all.Seed = max(all.Periods, h.Spec.Periods), min(all.Seed, h.Spec.Seed)
	return nil
}

// number returns the number of an entry in the study. It adds a new entry at the end.
func (j *joiner) number(e lab.Entry) (int, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return 0, err
	}
	n, ok := j.numbers[string(text)]
	if !ok {
		n = len(j.header.Spec.Entries)
		j.header.Spec.Entries = append(j.header.Spec.Entries, e)
		j.numbers[string(text)], j.seeds[n] = n, map[uint64]origin{}
	}
	return n, nil
}

// addRow adds a row whose Entry is the number in the study, unless an earlier piece had the same row. If the two rows
// differ, or an earlier piece has the run from another backend, addRow returns an error.
func (j *joiner) addRow(from origin, r lab.Row) error {
	p, agent := place{r.Entry, r.Seed, r.Period}, j.header.Spec.Entries[r.Entry].Agent
	first, known := j.seeds[r.Entry][r.Seed]
	if known && first.backend != from.backend {
		return fmt.Errorf("%s is of backend %s, %s of %s, and both have the run of %s with seed %d: the runs of two "+
			"backends are not joined; give only one of them", first.path, first.backend, from.path, from.backend, agent,
			r.Seed)
	}
	before, ok := j.seen[p]
	if ok && agree(before, r) {
		return nil
	}
	if ok {
		return fmt.Errorf("%s: seed %d of %s at period %d has regret %v (diverged at period %d; 0 means never), "+
			"but %v (%d) in an earlier piece", from.path, r.Seed, agent, r.Period, r.Regret, r.Diverged, before.Regret,
			before.Diverged)
	}
	j.seen[p], j.rows = r, append(j.rows, r)
	if !known {
		j.seeds[r.Entry][r.Seed] = from
	}
	return nil
}

// readPiece reads a piece of a study, or the result file of a folder.
func readPiece(path string, known map[string]lab.Experiment) (lab.Header, []lab.Row, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return lab.Header{}, nil, fmt.Errorf("%w: there is no folder or file %s", lab.ErrResults, path)
	}
	if err == nil && info.IsDir() {
		return lab.ReadResults(path, known)
	}
	return lab.ReadFile(path, known)
}
