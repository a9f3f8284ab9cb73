package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// checkpoint is a batch of runs at a period: its State and the rows so far. The checkpoint of a finished batch has no
// State. GoMLX's own checkpoints hold a model.Store; this State is not in a model.Store (see train.FromGoMLX), and its
// rows belong to it.
type checkpoint struct {
	Batch int
	Names []string // of the nodes of the State
	Rows  []Row
}

func checkpointPath(dir string, batch int) string {
	return filepath.Join(dir, "checkpoints", fmt.Sprintf("batch-%06d", batch))
}

// save writes the checkpoint atomically: if the process is killed, the file is either the old checkpoint or the new
// one.
func (c checkpoint) save(dir string, state []*tensors.Tensor) error {
	if err := saved.Write(checkpointPath(dir, c.Batch), c, state); err != nil {
		return fmt.Errorf("writing a checkpoint: %w; earlier checkpoints are intact: free some space and resume", err)
	}
	return nil
}

// loadCheckpoint returns the checkpoint of a batch of a plan, or an empty one if there is none. If state is not nil,
// loadCheckpoint stores the State there.
func loadCheckpoint(dir string, p plan, b batch, state *[]*tensors.Tensor) (checkpoint, error) {
	var c checkpoint
	path := checkpointPath(dir, b.number)
	err := saved.Read(path, &c, state)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = c.check(p, b)
	}
	if err != nil {
		return c, fmt.Errorf("checkpoint %s: %w: remove the file; resume then starts these runs again", path, err)
	}
	return c, nil
}

// check returns an error unless the rows are the first rows of the batch, in their order.
func (c checkpoint) check(p plan, b batch) error {
	periods := Schedule(p.spec.Periods)
	if c.Batch != b.number || len(c.Rows) > p.rows(b) {
		return fmt.Errorf("the file holds batch %d, with %d rows", c.Batch, len(c.Rows))
	}
	for i, r := range c.Rows {
		l := b.lanes[i%len(b.lanes)]
		if r.Entry != l.entry || r.Run != l.run || r.Seed != p.spec.Seed+uint64(l.run) ||
			r.Period != periods[i/len(b.lanes)] {
			return fmt.Errorf("its row %d belongs to entry %d, run %d, period %d", i, r.Entry, r.Run, r.Period)
		}
	}
	return nil
}
