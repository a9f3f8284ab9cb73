package analysis

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Complete reads the results of a folder. All runs must have ended. If there are sets, Complete returns the part of the
// results that has these settings, see [Part].
func Complete(dir string, known map[string]lab.Experiment, sets ...string) (lab.Header, []lab.Row, error) {
	h, rows, err := lab.ReadResults(dir, known)
	if err != nil {
		return h, nil, err
	}
	if want := h.Spec.Rows(); len(rows) != want {
		return h, nil, fmt.Errorf("%s: %w: it has %d of %d rows; finish the runs with `hyper resume %s`", dir,
			lab.ErrResults, len(rows), want, shell.Word(dir))
	}
	if len(sets) == 0 {
		return h, rows, nil
	}
	x, err := lab.Find(known, h.Spec.Experiment)
	if err != nil {
		return h, nil, err
	}
	if h, rows, err = Part(x, h, rows, sets...); err != nil {
		return h, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return h, rows, nil
}

// Part is Select for sets that somebody wrote. It is an error if no entry has a key or a value of the sets, or all of
// them together.
func Part(x lab.Experiment, h lab.Header, rows []lab.Row, sets ...string) (lab.Header, []lab.Row, error) {
	if err := cmp.Or(haveKeys(h, sets), haveValues(h, sets)); err != nil {
		return h, nil, err
	}
	if h, rows = Select(x, h, rows, sets...); len(h.Spec.Entries) == 0 {
		return h, nil, fmt.Errorf("no agent has %s together", strings.Join(sets, " "))
	}
	return h, rows, nil
}

// haveKeys returns an error if no entry has one of the keys of sets.
func haveKeys(h lab.Header, sets []string) error {
	keys := append([]string{"agent"}, h.Spec.KeyNames()...)
	for _, set := range sets {
		if key, _, _ := strings.Cut(set, "="); !slices.Contains(keys, key) {
			return fmt.Errorf("no agent has a key %q%s; the keys are %s", key, nearest.Hint(key, keys),
				strings.Join(keys, ", "))
		}
	}
	return nil
}

// haveValues returns an error if no entry has a value that sets list.
func haveValues(h lab.Header, sets []string) error {
	for _, set := range sets {
		key, text, listed := strings.Cut(set, "=")
		if !listed {
			continue
		}
		var there []string
		for _, v := range levels(h, key) {
			there = append(there, fmt.Sprint(v))
		}
		for value := range strings.SplitSeq(text, ",") {
			value = strings.TrimSpace(value)
			if !slices.ContainsFunc(there, func(v string) bool { return lab.SameValue(v, value) }) {
				return fmt.Errorf("no agent has %s=%s%s; the values are %s", key, value, nearest.Hint(value, there),
					strings.Join(there, ", "))
			}
		}
	}
	return nil
}

// pieceParts is the number of steps of regret in one unit of reward: a piece of a study rounds regrets to such steps.
const pieceParts = 1e3

// Write writes complete results to a file. FILE.jsonl has every row and every digit. FILE.jsonl.gz becomes a piece of a
// study: it has the rows at the last period and at eight periods for each factor of ten, from 10 on. These periods do
// not depend on the last period, so that pieces of different lengths can be compared. A piece has regrets rounded to
// thousandths. FILE.csv is a table of every row for other programs, see table.
//
// Write refuses to replace an existing file unless replace is true or
// the bytes would be the same. It always refuses to replace the result file of a run.
func Write(path string, h lab.Header, rows []lab.Row, replace bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file, FILE.jsonl.gz, FILE.jsonl or FILE.csv", path)
	}
	var text []byte
	var err error
	switch {
	case strings.HasSuffix(path, ".jsonl.gz"):
		text, err = pieceOf(h, rows)
	case strings.HasSuffix(path, ".jsonl"):
		text, err = linesOf(h, rows)
	case strings.HasSuffix(path, ".csv"):
		text, err = table(h, rows)
	default:
		err = fmt.Errorf("%s: the name must be FILE.jsonl.gz, for a piece of a study, or FILE.jsonl or FILE.csv, for every "+
			"row", path)
	}
	if err == nil {
		err = mayWrite(path, text, replace)
	}
	if err != nil {
		return err
	}
	return saved.WriteFile(path, text)
}

// linesOf returns a header and rows as JSON lines.
func linesOf(h lab.Header, rows []lab.Row) ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	err := lines.Encode(h)
	for _, r := range rows {
		err = errors.Join(err, lines.Encode(r))
	}
	return out.Bytes(), err
}

// pieceOf returns the contents of a piece of a study.
func pieceOf(h lab.Header, rows []lab.Row) ([]byte, error) {
	var some []lab.Row
	periods := thinned(h.Spec.Periods)
	for _, r := range rows {
		if slices.Contains(periods, r.Period) {
			r.Regret = stats.Float(math.Round(float64(r.Regret)*pieceParts) / pieceParts)
			some = append(some, r)
		}
	}
	lines, err := linesOf(h, some)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(lines)
	err = errors.Join(err, z.Close()) // before out.Bytes
	return out.Bytes(), err
}

// table returns rows as CSV. The columns are the agent, the keys in which entries differ, seed, period, cumulative
// regret, and the first period with predictions that are not finite, or 0. A cell is empty if the agent does not have
// the key.
func table(h lab.Header, rows []lab.Row) ([]byte, error) {
	keys := h.Spec.DifferingKeys()
	var of [][]string // the first columns of each entry
	for _, e := range h.Spec.Entries {
		cells, own := []string{e.Agent}, catalog.Values(e.Setting)
		for _, k := range keys {
			cell := ""
			if v, ok := own[k]; ok {
				cell = fmt.Sprint(v)
			}
			cells = append(cells, cell)
		}
		of = append(of, cells)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err := w.Write(slices.Concat([]string{"agent"}, keys, []string{"seed", "period", "cumulative_regret", "diverged"}))
	for _, r := range rows {
		regret := strconv.FormatFloat(float64(r.Regret), 'g', -1, 64)
		err = errors.Join(err, w.Write(slices.Concat(of[r.Entry],
			[]string{fmt.Sprint(r.Seed), fmt.Sprint(r.Period), regret, fmt.Sprint(r.Diverged)})))
	}
	w.Flush()
	return out.Bytes(), errors.Join(err, w.Error())
}

// mayWrite returns an error if writing a file would destroy other contents.
func mayWrite(path string, text []byte, replace bool) error {
	existing, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case filepath.Base(path) == lab.ResultsFile:
		return fmt.Errorf("%s exists: choose another name, because runs keep their results under this name", path)
	case replace || bytes.Equal(existing, text):
		return nil
	}
	return fmt.Errorf("%s exists: choose another name, or replace the file with --force", path)
}

// thinned returns the periods of a piece of a study: every second period of the grid that all schedules share, from 10
// on (10, 13, 17, 23, 31, 42, 56, 74, 100 and so on), and the last period. Older pieces of 2,000 periods also have the
// periods between these.
func thinned(periods int) []int {
	var out []int
	all := lab.Schedule(periods)
	for i := slices.Index(all, 10); i >= 0 && i < len(all)-1; i += 2 {
		out = append(out, all[i])
	}
	return append(out, periods)
}

// agree reports whether two rows of the same run and period are equal, except for the rounding of regrets in a piece of
// a study.
func agree(a, b lab.Row) bool {
	x, y := float64(a.Regret), float64(b.Regret)
	near := math.Abs(x-y) <= 0.5/pieceParts+1e-12*math.Abs(x)
	return a.Diverged == b.Diverged && (near || x == y || math.IsNaN(x) && math.IsNaN(y))
}
