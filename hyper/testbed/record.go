package testbed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Format names the layout of files of results: a [Header], and a [Result] a line.
const Format = "hypermodels-testbed-1"

// Header is the first line of a file of results.
type Header struct {
	Format     string         `json:"format"`
	Sweep      string         `json:"sweep"`
	Batches    int            `json:"batches"` // of test inputs
	Backend    string         `json:"backend"`
	Provenance lab.Provenance `json:"provenance"`
	Machine    lab.Machine    `json:"machine"`
}

// ErrRecord is the cause of errors about a file that is damaged, or of other results.
var ErrRecord = errors.New("not a usable file of the testbed's results")

// mostLine is how many bytes a line may have.
const mostLine = 1 << 16

// Record is a file of results that grows: what is there is kept. It is not for concurrent use.
type Record struct {
	Header
	Results []Result
	file    *os.File
}

// OpenRecord opens the file to go on with it, and makes it where there is none. A last line that a stop has cut is
// dropped. Results of other code are refused: the error wraps lab.ErrMixed.
func OpenRecord(path string, h Header) (*Record, error) {
	h.Format = Format
	r, whole, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newRecord(path, h)
	case err != nil:
		return nil, err
	case r.Sweep != h.Sweep || r.Batches != h.Batches || r.Backend != h.Backend:
		return nil, fmt.Errorf("%w: %s has the sweep %s with %d test batches on %s; choose another file for %s with %d "+
			"on %s", ErrRecord, path, r.Sweep, r.Batches, r.Backend, h.Sweep, h.Batches, h.Backend)
	}
	if err = r.Provenance.Continues(h.Provenance, "testbed", nil); err != nil {
		return nil, err
	}
	if r.file, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return nil, err
	}
	if err = r.file.Truncate(whole); err == nil {
		_, err = r.file.Seek(whole, 0)
	}
	return r, err
}

func newRecord(path string, h Header) (*Record, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	r := &Record{Header: h, file: f}
	return r, r.write(h)
}

// ReadRecord reads a file of results.
func ReadRecord(path string) (*Record, error) {
	r, _, err := read(path)
	return r, err
}

// read returns the record, and how many bytes of the file are whole lines.
func read(path string) (r *Record, whole int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	r = &Record{}
	lines := bufio.NewReaderSize(f, mostLine)
	for n := 0; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, fmt.Errorf("%w: %s: line %d has more than %d bytes", ErrRecord, path, n+1, mostLine)
		}
		if err != nil { // the end, perhaps of a line that was cut
			break
		}
		if err := r.take(n, line); err != nil {
			return nil, 0, fmt.Errorf("%w: %s: line %d: %w", ErrRecord, path, n+1, err)
		}
		whole += int64(len(line))
	}
	if r.Format != Format {
		return nil, 0, fmt.Errorf("%w: %s has no header of format %s", ErrRecord, path, Format)
	}
	return r, whole, nil
}

// take reads a line.
func (r *Record) take(number int, line []byte) error {
	if number == 0 {
		if err := json.Unmarshal(line, &r.Header); err != nil || r.Format != Format {
			return fmt.Errorf("no header of format %s", Format)
		}
		return nil
	}
	var one Result
	if err := json.Unmarshal(line, &one); err != nil {
		return err
	}
	if one.Agent == "" || one.Tau < 1 || one.Validate() != nil {
		return errors.New("no result of an agent on a problem")
	}
	r.Results = append(r.Results, one)
	return nil
}

// Left are the problems of a sweep on which the agent has not been tried with all taus yet.
func (r *Record) Left(agent string, s Sweep, taus []int) Sweep {
	there := map[int]int{}
	for _, x := range r.Results {
		if x.Agent == agent && slices.Contains(taus, x.Tau) {
			there[x.Number]++
		}
	}
	s.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool { return there[p.Number] >= len(taus) })
	return s
}

// Has tells whether there is a result of the agent on the problem with the same tau.
func (r *Record) Has(x Result) bool {
	return slices.ContainsFunc(r.Results, func(y Result) bool {
		return y.Agent == x.Agent && y.Number == x.Number && y.Tau == x.Tau
	})
}

// Add writes results to the file, which has them when Add returns.
func (r *Record) Add(results []Result) error {
	lines := make([]any, len(results))
	for i, x := range results {
		lines[i] = x
	}
	if err := r.write(lines...); err != nil {
		return fmt.Errorf("writing results: %w; what was written before is intact", err)
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
func (r *Record) Close() error { return r.file.Close() }
