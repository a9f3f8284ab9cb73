package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Format names the layout of result files.
const Format = "hypermodels-results-1"

// ErrResults is the cause of errors about a result file that is damaged or is none of ours.
var ErrResults = errors.New("not a usable result file")

// Header is the first line of a result file: what was run, by what, and where.
type Header struct {
	Format  string `json:"format"`
	Spec    Spec   `json:"spec"`
	Version string `json:"version"`
	// of the code that began it; files of version 0.1.0 may have none
	Provenance Provenance   `json:"provenance,omitzero"`
	Also       []Provenance `json:"also,omitempty"` // of other code that made some of the rows
	Backend    string       `json:"backend"`
	BatchRuns  int          `json:"batch_runs"` // runs in one batch, which fixes the order of the rows
	Machine    Machine      `json:"machine"`
}

// String says in a line what was run, and by what: for a person to read.
func (h Header) String() string {
	return fmt.Sprintf("%v; hypermodels %s, backend %s", h.Spec, h.Version, h.Backend)
}

// Machine describes where a result was made.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// Row is the state of a run after some periods. A run diverges when its predictions are no longer finite. From that
// period on it takes all actions in turn, which costs what random actions cost, and its regret counts like that of
// every other run. Every table, figure and verdict says how many runs diverged. Statistics of a regret of NaN are NaN.
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

// offer hands over all rows of a batch so far, all there will be if done. It returns the batches that are now written.
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
		return nil, fmt.Errorf("writing results: %w; what was written before is intact: free space and resume", err)
	}
	return written, w.file.Sync()
}
