package lab

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// A study is results of one experiment in pieces: small files, each with the header and the rows of a run at a few periods, which
// are made anywhere (other seeds, other settings) and read together. See Export and ReadStudy.

// Export writes the results of a folder to a file as a piece of a study: gzipped lines of the same format, with the rows at the
// last period and at about eight periods for each factor of ten. All runs must be complete.
func Export(dir, path string, known map[string]Experiment) error {
	h, rows, err := ReadResults(dir, known)
	if err != nil {
		return err
	}
	want := len(h.Spec.Entries) * h.Spec.Runs * len(Schedule(h.Spec.Periods))
	if len(rows) != want {
		return fmt.Errorf("%s: %w: it has %d of %d rows; resume it first", dir, ErrResults, len(rows), want)
	}
	return WritePiece(path, h, rows)
}

// WritePiece writes complete results to a file as Export does.
func WritePiece(path string, h Header, rows []Row) error {
	kept := thinned(h.Spec.Periods)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(z)
	err = lines.Encode(h)
	for _, r := range rows {
		if slices.Contains(kept, r.Period) && err == nil {
			r.Regret = Float(math.Round(float64(r.Regret)*1e3) / 1e3)
			err = lines.Encode(r)
		}
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	return saved.WriteFile(path, out.Bytes())
}

// thinned is every second period of the schedule from 10 on, and the last.
func thinned(periods int) []int {
	var out []int
	for i, p := range slices.Backward(Schedule(periods)) {
		if p >= 10 && (len(Schedule(periods))-1-i)%2 == 0 {
			out = append(out, p)
		}
	}
	slices.Reverse(out)
	return out
}

// ReadStudy reads pieces of a study, or result folders, and joins them: entries with the same agent and settings become one, with
// the runs of all. The Spec of the header has them all; its Runs is the most of any entry, and its Periods the longest. Pieces that hold
// the same run of an entry twice must agree on it. Pieces between which results changed are refused, see [Study].
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
				if before.Regret != r.Regret {
					return joined, nil, fmt.Errorf("%s: seed %d of %s at period %d has regret %v, and %v in an earlier piece", path, r.Seed,
						joined.Spec.Entries[r.Entry].Agent, r.Period, r.Regret, before.Regret)
				}
				continue
			}
			seen[p] = r
			runs[r.Entry][r.Seed] = true
			rows = append(rows, r)
		}
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

// ErrNotInStudy says that a study lacks an entry.
var ErrNotInStudy = errors.New("not in the study")

// FromStudy is a Simulator that simulates nothing: it looks the entries up in a study, with all their runs and periods. The error is
// ErrNotInStudy when one is missing.
func FromStudy(x Experiment, h Header, rows []Row) Simulator {
	return func(agents, sets []string, size Size) (Header, []Row, error) {
		spec, err := x.Spec(agents, sets, size, h.Spec.Seed)
		if err != nil {
			return Header{}, nil, err
		}
		found := h
		found.Spec = spec
		var out []Row
		for i, e := range spec.Entries {
			want, err := json.Marshal(e)
			if err != nil {
				return Header{}, nil, err
			}
			at := slices.IndexFunc(h.Spec.Entries, func(e Entry) bool {
				text, err := json.Marshal(e)
				return err == nil && bytes.Equal(text, want)
			})
			if at < 0 {
				return Header{}, nil, fmt.Errorf("%w: agent %s with %v at the defaults of its other settings", ErrNotInStudy, e.Agent, slices.Concat(size.Sets, sets))
			}
			for _, r := range rows {
				if r.Entry == at {
					r.Entry = i
					out = append(out, r)
				}
			}
		}
		return found, out, nil
	}
}
