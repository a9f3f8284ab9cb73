package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Format names the layout of result files.
const Format = "hypermodels-results-1"

// ErrResults is the cause of errors about a result file that is damaged or is none of ours.
var ErrResults = errors.New("not a usable result file")

// Header is the first line of a result file: what was run, by what, and where.
type Header struct {
	Format    string  `json:"format"`
	Spec      Spec    `json:"spec"`
	Version   string  `json:"version"`
	Backend   string  `json:"backend"`
	BatchRuns int     `json:"batch_runs"` // runs in one batch, which fixes the order of the rows
	Machine   Machine `json:"machine"`
}

// Machine describes where a result was made.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Row is the state of a run after some periods.
type Row struct {
	Entry    int    `json:"entry"` // position in Spec.Entries
	Run      int    `json:"run"`
	Seed     uint64 `json:"seed"`
	Period   int    `json:"period"`
	Regret   Float  `json:"cumulative_regret"`  // sum of expected regret over the periods so far
	Diverged int    `json:"diverged,omitempty"` // first period with predictions that are not finite
	Digest   uint32 `json:"digest"`             // hash of all actions so far: equal for equal histories
}

// ResultsFile is the name of the result file in an output folder.
const ResultsFile = "results.jsonl"

// ReadResults reads the result file of a folder. A last line that was cut off is left out; anything else that is wrong is an error.
func ReadResults(dir string, known map[string]Experiment) (Header, []Row, error) {
	path := filepath.Join(dir, ResultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Header{}, nil, fmt.Errorf("%w: %s has no %s", ErrResults, dir, ResultsFile)
	}
	h, rows, _, err := parseResults(text, known)
	if err != nil {
		return Header{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, rows, nil
}

// parseResults also returns the length of the part that holds whole lines.
func parseResults(text []byte, known map[string]Experiment) (h Header, rows []Row, whole int, err error) {
	r := bufio.NewReader(bytes.NewReader(text))
	for number := 1; ; number++ {
		line, end := r.ReadBytes('\n')
		if end == io.EOF { // nothing, or a line cut off while it was written
			if number == 1 {
				return h, nil, 0, fmt.Errorf("%w: the header line is missing or cut off", ErrResults)
			}
			return h, rows, whole, nil
		}
		if number == 1 {
			h, err = parseHeader(line, known)
		} else {
			var row Row
			if err = json.Unmarshal(line, &row); err != nil {
				err = fmt.Errorf("%w: line %d: %v", ErrResults, number, err)
			} else if row.Entry < 0 || row.Entry >= len(h.Spec.Entries) {
				err = fmt.Errorf("%w: line %d: entry %d is not in the Spec", ErrResults, number, row.Entry)
			}
			rows = append(rows, row)
		}
		if err != nil {
			return h, nil, 0, err
		}
		whole += len(line)
	}
}

func parseHeader(line []byte, known map[string]Experiment) (Header, error) {
	var raw struct {
		Header
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(line, &raw); err != nil || raw.Format != Format {
		return Header{}, fmt.Errorf("%w: the first line is not a %s header", ErrResults, Format)
	}
	h := raw.Header
	spec, _, err := ParseSpec(raw.Spec, known)
	if err != nil {
		return Header{}, fmt.Errorf("%w: %v", ErrResults, err)
	}
	h.Spec = spec
	return h, nil
}

// writer appends rows to a result file in one order, whatever order batches make progress in: all rows of batch 0 by
// period and run, then those of batch 1, and so on. The file after a resume is therefore that of an uninterrupted run.
type writer struct {
	mu      sync.Mutex
	file    *os.File
	lead    int // the batch whose rows are written next
	written int // rows of the lead batch in the file
	rows    map[int][]Row
	done    map[int]bool
}

// offer hands over all rows that a batch has so far; done says that there will be no more. It returns the batches whose
// last row was written now.
func (w *writer) offer(batch int, rows []Row, done bool) (written []int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows[batch], w.done[batch] = rows, done
	var out bytes.Buffer
	for {
		rows, ok := w.rows[w.lead]
		if !ok {
			break
		}
		for ; w.written < len(rows); w.written++ {
			line, err := json.Marshal(rows[w.written])
			if err != nil {
				return nil, err
			}
			out.Write(append(line, '\n'))
		}
		if !w.done[w.lead] {
			break
		}
		delete(w.rows, w.lead)
		written = append(written, w.lead)
		w.lead, w.written = w.lead+1, 0
	}
	if out.Len() == 0 {
		return written, nil
	}
	if _, err := w.file.Write(out.Bytes()); err != nil {
		return nil, fmt.Errorf("writing results: %w; what was written before is intact: free some space and resume", err)
	}
	return written, w.file.Sync()
}
