package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
)

// open creates the result file, or continues an existing one. isNew is true if open created the file.
func (e *engine) open() (isNew bool, err error) {
	header := Header{Format: Format, Spec: e.plan.spec, Version: hyper.Version,
		Provenance: ThisProvenance(e.opts.Backend), Backend: e.opts.Backend,
		BatchRuns: e.opts.BatchRuns, Machine: process.ThisMachine()}
	path := filepath.Join(e.opts.Dir, ResultsFile)
	e.out = &writer{rows: map[int][]Row{}, done: map[int]bool{}}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		line, err := json.Marshal(header)
		if err != nil {
			return false, err
		}
		if err := saved.WriteFile(path, append(line, '\n')); err != nil {
			return false, fmt.Errorf("starting results: %w", err)
		}
		isNew = true
	} else if err := e.continueFile(path, header); err != nil {
		return false, err
	}
	e.out.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	return isNew, err
}

// begunWith returns the number of runs in a batch of the results in a folder. It is 0 if there are none, or if their
// header cannot be read.
func begunWith(dir string) int {
	f, err := os.Open(filepath.Join(dir, ResultsFile))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	line, err := readLine(bufio.NewReader(f), longestHeader)
	var h struct {
		BatchRuns int `json:"batch_runs"`
	}
	if err != nil || json.Unmarshal(line, &h) != nil {
		return 0
	}
	return max(h.BatchRuns, 0)
}

// continueFile checks that an existing file holds results of this Spec and code. It removes an incomplete last line,
// and finds the batch and row at which to continue.
func (e *engine) continueFile(path string, want Header) error {
	found, err := parseFile(path, e.known)
	if err != nil {
		return err
	}
	h, rows := found.header, found.rows
	if !h.Spec.Equal(want.Spec) || h.Backend != want.Backend || h.BatchRuns != want.BatchRuns {
		return fmt.Errorf("%s holds %w, with %s; choose another --out, or continue them with `hyper resume %s`",
			e.opts.Dir, ErrOtherResults, differences(h, want), shell.Word(e.opts.Dir))
	}
	if err := e.mayContinue(path, h, want); err != nil {
		return err
	}
	left := len(rows)
	for _, b := range e.plan.batches {
		own := rows[len(rows)-left:][:min(left, e.plan.rows(b))]
		if err := (checkpoint{Batch: b.number, Rows: own}).check(e.plan, b); err != nil {
			return fmt.Errorf("%s: %w: a line is missing or out of place, since %w; restore the file, or choose another --out",
				path, ErrResults, err)
		}
		e.rows.rows(b.number, own)
		if left < e.plan.rows(b) {
			break
		}
		left -= e.plan.rows(b)
		e.out.lead++
		e.now.Done += int64(len(b.lanes)) * int64(e.plan.spec.Periods)
	}
	if e.out.written = left; left > 0 && e.out.lead == len(e.plan.batches) {
		return fmt.Errorf("%s: %w: the file has more rows than the Spec", path, ErrResults)
	}
	return prepareFile(path, found, want.Provenance)
}

// ErrOtherResults reports that a folder holds results of another Spec, backend or batch size.
var ErrOtherResults = errors.New("other results")

// differences says how an old header differs from a new one.
func differences(old, now Header) string {
	all := old.Spec.Differences(now.Spec)
	if old.Backend != now.Backend {
		all = append(all, fmt.Sprintf("backend %s instead of %s", old.Backend, now.Backend))
	}
	if len(all) == 0 { // its default depends on the above
		all = append(all, fmt.Sprintf("batch-runs %d instead of %d", old.BatchRuns, now.BatchRuns))
	}
	return strings.Join(all, ", ")
}

// Differences says how a Spec differs from a new one, in the words of the command's flags and keys. A setting that
// differs in several entries is named once. The result is empty if the Specs are equal.
func (s Spec) Differences(now Spec) []string {
	var all []string
	named := map[string]bool{}
	compare := func(name string, before, after any) {
		if text := fmt.Sprintf("%s %v instead of %v", name, before, after); fmt.Sprint(before) != fmt.Sprint(after) &&
			!named[name] {
			all, named[name] = append(all, text), true
		}
	}
	compare("experiment", s.Experiment, now.Experiment)
	compare("agent", strings.Join(s.agents(), ","), strings.Join(now.agents(), ","))
	compare("runs", s.Runs, now.Runs)
	compare("periods", s.Periods, now.Periods)
	compare("seed", s.Seed, now.Seed)
	sameAgents := slices.Equal(s.agents(), now.agents())
	if sameAgents {
		compare("number of settings", len(s.Entries), len(now.Entries))
	}
	if sameAgents && len(s.Entries) == len(now.Entries) {
		for i, e := range s.Entries {
			before, after := catalog.Values(e.Setting), catalog.Values(now.Entries[i].Setting)
			for _, key := range slices.Sorted(maps.Keys(before)) {
				compare(key, before[key], after[key])
			}
		}
	}
	if len(all) == 0 && !s.Equal(now) {
		return []string{"other learners or another table"}
	}
	return all
}

// mayContinue returns nil if the existing rows are the rows that this code would have made, or if the options allow the
// results of different code to mix.
func (e *engine) mayContinue(path string, before, now Header) error {
	var why error
	if before.Version != now.Version {
		why = fmt.Errorf("%w: version %s, and version %s", ErrMixed, before.Version, now.Version)
	}
	for _, code := range append([]Provenance{before.Provenance}, before.Also...) {
		if why == nil {
			why = code.Continues(now.Provenance, before.Spec.Experiment, before.Spec.Entries)
		}
	}
	if why == nil {
		return nil
	}
	why = fmt.Errorf("other code began %s: %w", path, why)
	if e.opts.Mix == nil {
		return fmt.Errorf("%w; choose another folder, or continue with the code that began the results", why)
	}
	e.opts.Mix(why)
	return nil
}

// prepareFile prepares a result file for more rows: it removes an incomplete last line, and adds this code to the
// header.
func prepareFile(path string, found parsed, code Provenance) error {
	h := found.header
	h.MadeBy(code)
	if len(h.Also) == len(found.header.Also) {
		return os.Truncate(path, found.whole)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return saved.WriteFile(path, slices.Concat(line, []byte{'\n'}, text[found.first:found.whole]))
}
