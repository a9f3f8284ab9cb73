package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Format is the name of the layout of result files.
const Format = "hypermodels-results-1"

// ErrResults is the cause of errors about a file that is damaged or is not a result file.
var ErrResults = errors.New("unusable results")

// Header is the first line of a result file. It records the Spec, the code and the machine that made the results.
type Header struct {
	Format  string `json:"format"`
	Spec    Spec   `json:"spec"`
	Version string `json:"version"`
	// Provenance is the code that began the results. Files of version 0.1.0 may lack it.
	Provenance Provenance      `json:"provenance,omitzero"`
	Also       []Provenance    `json:"also,omitempty"` // other code that made some of the rows
	Backend    string          `json:"backend"`
	BatchRuns  int             `json:"batch_runs"` // runs in one batch, which determines the order of the rows
	Machine    process.Machine `json:"machine"`
}

// String describes the Spec and the code in one line.
func (h Header) String() string {
	return fmt.Sprintf("%v; hypermodels %s, backend %s", h.Spec, h.Version, h.Backend)
}

// Row is the result of a run up to a period. A run diverges when its predictions are no longer finite. From that period
// on it takes all actions in turn, which costs as much regret as random actions, and its regret counts like the regret
// of every other run. Every table, figure and verdict states the number of runs that diverged. A statistic of regrets
// is NaN if one of them is NaN.
type Row struct {
	Entry    int         `json:"entry"` // index in Spec.Entries
	Run      int         `json:"run"`
	Seed     uint64      `json:"seed"`
	Period   int         `json:"period"`
	Regret   stats.Float `json:"cumulative_regret"`  // sum of expected regret over all periods up to this one
	Diverged int         `json:"diverged,omitempty"` // first period with predictions that are not finite, or 0
	Digest   uint32      `json:"digest"`             // hash of all actions up to this period: equal for equal histories
}

// ResultsFile is the name of the result file in an output folder.
const ResultsFile = "results.jsonl"

// writer appends rows to a result file in one fixed order, whatever the order in which batches make progress: all rows
// of batch 0 by period and run, then all rows of batch 1, and so on. A resumed run therefore writes the same file as an
// uninterrupted one. A writer is safe for concurrent use.
type writer struct {
	mu      sync.Mutex
	file    *os.File
	lead    int // number of the batch whose rows are written next
	written int // number of rows of the lead batch that the file has
	rows    map[int][]Row
	done    map[int]bool
	failed  error // of an earlier write; the last line may then be incomplete
}

// offer takes all rows that a batch has so far; done means that the batch is complete. It writes the rows that are next
// in order, and returns the batches that are now completely written. After an error all later calls return it.
func (w *writer) offer(batch int, rows []Row, done bool) (written []int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return nil, w.failed
	}
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
	_, err = w.file.Write(out.Bytes())
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		w.failed = fmt.Errorf("writing results: %w; the rows written so far are intact: free some space and resume", err)
	}
	return written, w.failed
}
