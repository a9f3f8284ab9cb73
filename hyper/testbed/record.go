package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// recordFormat names the layout of a file of results: one line with a [Header], then one line for each [Result].
const recordFormat = "hypermodels-testbed-1"

// Header is the first line of a file of results.
type Header struct {
	Format     string          `json:"format"`
	Sweep      string          `json:"sweep"`
	Batches    int             `json:"batches"` // of test inputs
	Backend    string          `json:"backend"`
	Provenance lab.Provenance  `json:"provenance"`
	Machine    process.Machine `json:"machine"`
}

// errRecord is wrapped by errors about a file that is damaged, or that has the results of another sweep.
var errRecord = errors.New("not a usable file of the testbed's results")

// Record is a file of results to which results can be added. It is not safe for concurrent use.
type Record struct {
	Header
	Results []Result
	file    *os.File
	unlock  func()
	failed  error // of an earlier write; the last line may then be incomplete
}

// OpenRecord opens a file to add results, and creates it if it does not exist. If the last line is incomplete, because
// a process stopped while it wrote, that line is dropped. OpenRecord refuses a file that another process has open, or
// that other code has written: the error wraps lab.ErrMixed.
func OpenRecord(path string, h Header) (*Record, error) {
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(filepath.Clean(dir), 0o755); err != nil {
		return nil, err
	}
	unlock, err := lab.Lock(filepath.Join(dir, "."+name+".lock"), path)
	if err != nil {
		return nil, err
	}
	r, err := openRecord(path, h)
	if err != nil {
		unlock()
		return nil, err
	}
	r.unlock = unlock
	return r, nil
}

// openRecord is OpenRecord for a file that no other process has open.
func openRecord(path string, h Header) (*Record, error) {
	h.Format = recordFormat
	r, whole, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newRecord(path, h)
	case err != nil:
		return nil, err
	case r.Sweep != h.Sweep || r.Batches != h.Batches || r.Backend != h.Backend:
		return nil, fmt.Errorf("%w: %s has results of sweep %s with %d test batches on %s; choose another file for sweep %s "+
			"with %d test batches on %s", errRecord, path, r.Sweep, r.Batches, r.Backend, h.Sweep, h.Batches, h.Backend)
	}
	if err = r.Provenance.Continues(h.Provenance, "testbed", nil); err != nil {
		return nil, err
	}
	if r.Provenance.Epoch != h.Provenance.Epoch { // the changes are about entries of experiments, which a sweep lacks
		return nil, fmt.Errorf("%w: %s, and %s: results may have changed between them; choose another file than %s",
			lab.ErrMixed, r.Provenance, h.Provenance, path)
	}
	if err = os.Truncate(path, whole); err != nil {
		return nil, err
	}
	r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return r, err
}

func newRecord(path string, h Header) (*Record, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	r := &Record{Header: h, file: f}
	if err := r.write(h); err != nil { // such as a full disk
		_ = f.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return r, nil
}

// ReadRecord reads a file of results.
func ReadRecord(path string) (*Record, error) {
	r, _, err := read(path)
	return r, err
}

// read returns the record, and the number of bytes of the file that are complete lines.
func read(path string) (r *Record, whole int64, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, 0, fmt.Errorf("%w: %s is a folder: name a file", errRecord, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // without an incomplete last line
	r = &Record{}
	n := 0
	for line := range bytes.Lines(text) {
		if err := r.take(n, line); err != nil {
			return nil, 0, fmt.Errorf("%w: %s: line %d: %w", errRecord, path, n+1, err)
		}
		n++
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("%w: %s has no header of format %s", errRecord, path, recordFormat)
	}
	return r, int64(len(text)), nil
}

// take parses a line; line 0 is the header.
func (r *Record) take(number int, line []byte) error {
	if number == 0 {
		if err := json.Unmarshal(line, &r.Header); err != nil || r.Format != recordFormat {
			return fmt.Errorf("no header of format %s", recordFormat)
		}
		return nil
	}
	var one Result
	if err := json.Unmarshal(line, &one); err != nil {
		return err
	}
	if one.Agent == "" || one.Tau < 1 || one.Validate() != nil {
		return errors.New("the line is not a result of an agent on a problem")
	}
	r.Results = append(r.Results, one)
	return nil
}

// Try tries agents on the problems of a sweep on which the record lacks results, as the function [Try] does, and adds
// the results. options returns the options for an agent and its remaining problems. progress is called after each batch
// of results with the number of problems that are done, of the remaining ones.
func (r *Record) Try(ctx context.Context, agents []Agent, s Sweep, taus []int,
	options func(Agent, Sweep) (Options, error), progress func(a Agent, done, of int)) error {
	for _, a := range agents {
		if err := r.checkMade(a); err != nil {
			return err
		}
		remaining := r.remaining(a.Name, s, taus)
		if len(remaining.Problems) == 0 {
			continue
		}
		o, err := options(a, remaining)
		if err != nil {
			return err
		}
		o.Taus = taus
		done := 0
		err = Try(ctx, a, remaining, o, func(results []Result) error {
			done += len(results) / len(taus)
			progress(a, done, len(remaining.Problems))
			return r.Add(slices.DeleteFunc(results, r.has))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMade reports results of another agent with the same name.
func (r *Record) checkMade(a Agent) error {
	for _, x := range r.Results {
		if x.Agent == a.Name && x.Made != a.Made {
			return fmt.Errorf("%w: its results of %s are from other settings or another number of steps; choose another file "+
				"for the results, or rename the agent", errRecord, a.Name)
		}
	}
	return nil
}

// remaining returns the sweep with only those problems on which the agent still has to be tried with some of the taus.
func (r *Record) remaining(agent string, s Sweep, taus []int) Sweep {
	results := map[int]int{} // by problem
	for _, x := range r.Results {
		if x.Agent == agent && slices.Contains(taus, x.Tau) {
			results[x.Number]++
		}
	}
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool { return results[p.Number] >= len(taus) })
	return s
}

// has reports whether the record has a result of the same agent on the same problem with the same tau.
func (r *Record) has(x Result) bool {
	return slices.ContainsFunc(r.Results, func(y Result) bool {
		return y.Agent == x.Agent && y.Number == x.Number && y.Tau == x.Tau
	})
}

// Add writes results to the file. The results are on disk when Add returns. After an error all later calls return it.
func (r *Record) Add(results []Result) error {
	if r.failed != nil {
		return r.failed
	}
	lines := make([]any, len(results))
	for i, x := range results {
		lines[i] = x
	}
	if err := r.write(lines...); err != nil {
		r.failed = fmt.Errorf("writing results: %w; what was written before is intact", err)
		return r.failed
	}
	r.Results = append(r.Results, results...)
	return nil
}

func (r *Record) write(lines ...any) error {
	var out []byte
	for _, x := range lines {
		text, err := json.Marshal(x)
		if err != nil {
			return err
		}
		out = append(append(out, text...), '\n')
	}
	if _, err := r.file.Write(out); err != nil {
		return err
	}
	return r.file.Sync()
}

// Close closes the file.
func (r *Record) Close() error {
	defer r.unlock()
	return r.file.Close()
}
