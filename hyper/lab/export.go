package lab

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// Export writes the results of a folder to a file as a piece of a study: gzipped lines of the same format, with the
// rows at the last period and at eight periods for each factor of ten, from 10 on. These are the same whatever the last
// period is, so that pieces of different length can be compared. Regrets are rounded to thousandths. The results are
// those of [Complete], and the file is refused as [WriteResults] refuses it.
func Export(dir, path string, known map[string]Experiment, sets ...string) error {
	h, rows, err := Complete(dir, known, sets...)
	if err != nil {
		return err
	}
	return WriteResults(path, h, rows, false)
}

// Complete reads the results of a folder. All runs must have ended. With sets it is the part of the results that has
// them, see [Experiment.Part]: a key that no agent has is an error, and so is a part without an agent.
func Complete(dir string, known map[string]Experiment, sets ...string) (Header, []Row, error) {
	h, rows, err := ReadResults(dir, known)
	if err != nil {
		return h, nil, err
	}
	want := len(h.Spec.Entries) * h.Spec.Runs * len(Schedule(h.Spec.Periods))
	if len(rows) != want {
		return h, nil, fmt.Errorf("%s: %w: it has %d of %d rows; `hyper resume %s` first", dir, ErrResults, len(rows),
			want, dir)
	}
	if len(sets) == 0 {
		return h, rows, nil
	}
	if err := haveKeys(h, sets); err != nil {
		return h, nil, fmt.Errorf("%s: %w", dir, err)
	}
	if h, rows = known[h.Spec.Experiment].Part(h, rows, sets...); len(h.Spec.Entries) == 0 {
		return h, nil, fmt.Errorf("%s has no agent with %s", dir, strings.Join(sets, " "))
	}
	return h, rows, nil
}

// haveKeys reports a key of sets that no entry has.
func haveKeys(h Header, sets []string) error {
	var keys []string
	for _, e := range h.Spec.Entries {
		keys = append(keys, keyNames(e.Setting)...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, set := range sets {
		if key, _, _ := strings.Cut(set, "="); !slices.Contains(keys, key) {
			return fmt.Errorf("no agent has a key %q%s; the keys are %s", key, nearest.Hint(key, keys),
				strings.Join(keys, ", "))
		}
	}
	return nil
}

// A regret in a piece of a study is a whole number of pieceParts of 1.
const pieceParts = 1e3

// WriteResults writes complete results to a file: as Export does to FILE.jsonl.gz, or to FILE.jsonl with every row and
// every digit. A file that is there is refused unless its bytes would be the same, or it may be replaced; one that is a
// run's own is always refused.
func WriteResults(path string, h Header, rows []Row, replace bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: results are written to a file, FILE.jsonl.gz or FILE.jsonl", path)
	}
	if !strings.HasSuffix(path, ".jsonl") && !strings.HasSuffix(path, ".jsonl.gz") {
		return fmt.Errorf("%s: results are written to FILE.jsonl.gz, a piece of a study, or FILE.jsonl, with every row",
			path)
	}
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
	if err == nil {
		err = mayWrite(path, out.Bytes(), replace)
	}
	if err != nil {
		return err
	}
	return saved.WriteFile(path, out.Bytes())
}

// mayWrite returns an error where writing a file would lose another.
func mayWrite(path string, text []byte, replace bool) error {
	there, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case filepath.Base(path) == ResultsFile:
		return fmt.Errorf("%s exists: name another, as a run keeps its results under this name", path)
	case replace || bytes.Equal(there, text):
		return nil
	}
	return fmt.Errorf("%s exists: name another, or give --force", path)
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
