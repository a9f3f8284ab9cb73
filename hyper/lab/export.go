package lab

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Export writes the results of a folder to a file as a piece of a study: gzipped lines of the same format, with the
// rows at the last period and at eight periods for each factor of ten, from 10 on. These are the same whatever the last
// period is, so that pieces of different length can be compared. Regrets are rounded to thousandths. All runs must have
// ended. With sets it is the part of the results that has them, see [Experiment.Part].
func Export(dir, path string, known map[string]Experiment, sets ...string) error {
	h, rows, err := ReadResults(dir, known)
	if err != nil {
		return err
	}
	want := len(h.Spec.Entries) * h.Spec.Runs * len(Schedule(h.Spec.Periods))
	if len(rows) != want {
		return fmt.Errorf("%s: %w: it has %d of %d rows; resume it first", dir, ErrResults, len(rows), want)
	}
	if len(sets) > 0 {
		if h, rows = known[h.Spec.Experiment].Part(h, rows, sets...); len(h.Spec.Entries) == 0 {
			return fmt.Errorf("%s has no agent with %s", dir, strings.Join(sets, " "))
		}
	}
	return WriteResults(path, h, rows)
}

// A regret in a piece of a study is a whole number of pieceParts of 1.
const pieceParts = 1e3

// WriteResults writes complete results to a file: as Export does, or to FILE.jsonl with every row and every digit.
func WriteResults(path string, h Header, rows []Row) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	lines, piece, kept := json.NewEncoder(z), filepath.Ext(path) != ".jsonl", thinned(h.Spec.Periods)
	if !piece {
		lines = json.NewEncoder(&out)
	}
	err = lines.Encode(h)
	for _, r := range rows {
		if piece && !slices.Contains(kept, r.Period) {
			continue
		}
		if piece {
			r.Regret = Float(math.Round(float64(r.Regret)*pieceParts) / pieceParts)
		}
		err = errors.Join(err, lines.Encode(r))
	}
	if piece {
		err = errors.Join(err, z.Close())
	}
	if err != nil {
		return err
	}
	return saved.WriteFile(path, out.Bytes())
}

// thinned is every second period of the grid that all schedules have, from 10 on: 10, 13, 17, 23, 31, 42, 56, 74, 100
// and so on; and the last. (Older pieces of 2,000 periods have those between these.)
func thinned(periods int) []int {
	var out []int
	x := 1.0
	for i := 0; int(x) < periods; i, x = i+1, x*scheduleRatio {
		if x >= 10 && i%2 == 0 {
			out = append(out, int(x))
		}
	}
	return append(out, periods)
}

// agree tells whether two rows of the same run and period say the same: a piece of a study has its regrets rounded.
func agree(a, b Row) bool {
	x, y := float64(a.Regret), float64(b.Regret)
	near := math.Abs(x-y) <= 0.5/pieceParts+1e-12*math.Abs(x)
	return a.Diverged == b.Diverged && (near || x == y || math.IsNaN(x) && math.IsNaN(y))
}
