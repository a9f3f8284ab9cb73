package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A study is results of one experiment in pieces: small files, each with the header and the rows of a run at a few periods, which
// are made anywhere (other seeds, other settings) and read together. See Export and ReadStudy.

// ReadStudy reads pieces of a study, or result folders, and joins them: entries with the same agent and settings become
// one, with the runs of all. The Spec of the header has them all; its Runs is the most of any entry, and its Periods
// the longest. Pieces that hold the same run of an entry twice must agree on it, but for the rounding of Export; the
// first one counts. Pieces between which results changed are refused, see [Study]. The error wraps ErrNoRows when
// there are no rows at all.
func ReadStudy(known map[string]Experiment, paths ...string) (Header, []Row, error) {
	return Study{}.Read(known, paths...)
}

// Read is [ReadStudy], in the way that s says.
func (s Study) Read(known map[string]Experiment, paths ...string) (Header, []Row, error) {
	var joined Header
	var made makers
	var rows []Row
	at := map[string]int{}
	type place struct {
		entry  int
		seed   uint64
		period int
	}
	seen := map[place]Row{}
	runs := map[int]map[uint64]bool{}
	for i, path := range paths {
		h, piece, err := readPiece(path, known)
		if err != nil {
			return joined, nil, err
		}
		if i == 0 {
			joined = h
			joined.Spec.Entries, joined.Spec.Seed, joined.Provenance = nil, h.Spec.Seed, h.Code()[0]
		} else if h.Spec.Experiment != joined.Spec.Experiment {
			return joined, nil, fmt.Errorf("%s is of experiment %s, the others of %s: read them apart", path, h.Spec.Experiment, joined.Spec.Experiment)
		}
		if why := made.add(path, h); why != nil && s.Mix == nil {
			return joined, nil, why
		} else if why != nil {
			s.Mix(why)
		}
		joined.MadeBy(h.Code()...)
		joined.Spec.Periods = max(joined.Spec.Periods, h.Spec.Periods)
		joined.Spec.Seed = min(joined.Spec.Seed, h.Spec.Seed)
		entries := make([]int, len(h.Spec.Entries))
		for j, e := range h.Spec.Entries {
			text, err := json.Marshal(e)
			if err != nil {
				return joined, nil, err
			}
			n, ok := at[string(text)]
			if !ok {
				n = len(joined.Spec.Entries)
				at[string(text)] = n
				joined.Spec.Entries = append(joined.Spec.Entries, e)
				runs[n] = map[uint64]bool{}
			}
			entries[j] = n
		}
		for _, r := range piece {
			r.Entry = entries[r.Entry]
			p := place{r.Entry, r.Seed, r.Period}
			if before, ok := seen[p]; ok {
				if !agree(before, r) {
					return joined, nil, fmt.Errorf("%s: seed %d of %s at period %d has regret %v (diverged at "+
						"period %d, 0 is never), and %v (%d) in an earlier piece", path,
						r.Seed, joined.Spec.Entries[r.Entry].Agent, r.Period, r.Regret, r.Diverged, before.Regret, before.Diverged)
				}
				continue
			}
			seen[p] = r
			runs[r.Entry][r.Seed] = true
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return joined, nil, fmt.Errorf("%s: %w: nothing was run to the first period yet; `hyper resume` goes on "+
			"with a run", strings.Join(paths, ", "), ErrNoRows)
	}
	for _, seeds := range runs {
		joined.Spec.Runs = max(joined.Spec.Runs, len(seeds))
	}
	return joined, rows, nil
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
