package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A study is results of one experiment in pieces: small files, each with the header and the rows of a run at a few
// periods, which are made anywhere (other seeds, other settings) and read together. See Export and ReadStudy.

// ReadStudy reads pieces of a study, or result folders, and joins them: entries with the same agent and settings become
// one, with the runs of all. The Spec of the header has them all; its Runs is the most of any entry, and its Periods
// the longest. Pieces that hold the same run of an entry twice must agree on it, but for the rounding of Export; the
// first one counts. Pieces between which results changed are refused, see [Study]. The error wraps ErrNoRows when there
// are none.
func ReadStudy(known map[string]Experiment, paths ...string) (Header, []Row, error) {
	return Study{}.Read(known, paths...)
}

// Read is [ReadStudy], in the way that s says.
func (s Study) Read(known map[string]Experiment, paths ...string) (Header, []Row, error) {
	j := joiner{mix: s.Mix, numbers: map[string]int{}, seen: map[place]Row{}, seeds: map[int]map[uint64]bool{}}
	for _, path := range paths {
		h, rows, err := readPiece(path, known)
		if err == nil {
			err = j.add(path, h, rows)
		}
		if err != nil {
			return j.header, nil, err
		}
	}
	if len(j.rows) == 0 {
		return j.header, nil, fmt.Errorf("%s: %w: nothing was run to the first period yet; `hyper resume` goes on "+
			"with a run", strings.Join(paths, ", "), ErrNoRows)
	}
	for _, seeds := range j.seeds {
		j.header.Spec.Runs = max(j.header.Spec.Runs, len(seeds))
	}
	return j.header, j.rows, nil
}

// joiner joins the pieces of a study, one after the other.
type joiner struct {
	mix     func(why error) // as in Study
	header  Header
	rows    []Row
	made    makers
	numbers map[string]int // of the entries so far, by their JSON
	seen    map[place]Row
	seeds   map[int]map[uint64]bool // of the runs of each entry
}

// place is what identifies a row of a study.
type place struct {
	entry  int
	seed   uint64
	period int
}

// add joins a piece to those before.
func (j *joiner) add(path string, h Header, rows []Row) error {
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
	for _, r := range rows {
		r.Entry = numbers[r.Entry]
		if err := j.addRow(path, r); err != nil {
			return err
		}
	}
	return nil
}

// addHeader joins all of a piece's header but its entries.
func (j *joiner) addHeader(path string, h Header) error {
	if len(j.made.list) == 0 {
		j.header = h
		j.header.Spec.Entries, j.header.Provenance = nil, h.Code()[0]
	}
	all := &j.header.Spec
	if h.Spec.Experiment != all.Experiment {
		return fmt.Errorf("%s is of experiment %s, the others of %s: read them apart", path,
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

// number is the place of an entry among those of the study, at its end for a new one.
func (j *joiner) number(e Entry) (int, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return 0, err
	}
	n, ok := j.numbers[string(text)]
	if !ok {
		n = len(j.header.Spec.Entries)
		j.header.Spec.Entries = append(j.header.Spec.Entries, e)
		j.numbers[string(text)], j.seeds[n] = n, map[uint64]bool{}
	}
	return n, nil
}

// addRow adds a row whose Entry is the study's, unless an earlier piece had it. Two that differ are an error.
func (j *joiner) addRow(path string, r Row) error {
	p := place{r.Entry, r.Seed, r.Period}
	before, ok := j.seen[p]
	if ok && agree(before, r) {
		return nil
	}
	if ok {
		return fmt.Errorf("%s: seed %d of %s at period %d has regret %v (diverged at period %d, 0 is never), and %v "+
			"(%d) in an earlier piece", path, r.Seed, j.header.Spec.Entries[r.Entry].Agent, r.Period, r.Regret,
			r.Diverged, before.Regret, before.Diverged)
	}
	j.seen[p], j.rows = r, append(j.rows, r)
	j.seeds[r.Entry][r.Seed] = true
	return nil
}

// readPiece reads a piece of a study, or the result file of a folder.
func readPiece(path string, known map[string]Experiment) (Header, []Row, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return Header{}, nil, fmt.Errorf("%w: there is no folder or file %s", ErrResults, path)
	}
	if err == nil && info.IsDir() {
		return ReadResults(path, known)
	}
	found, err := parseFile(path, known)
	return found.header, found.rows, err
}
