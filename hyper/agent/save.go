package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// format is the format of the files that Save writes; armsFormat is the format after a change of arms.
const (
	armsFormat = "hypermodels agent 5"
	format     = "hypermodels agent 4"
)

// file is the header of an agent's file; the state follows it.
type file struct {
	Format      string
	Version     string          // version of the module that wrote it
	Config      json.RawMessage // see describe
	Fingerprint string          // hash of Config
	Names       []train.Entry
	Data        contents
	Rounds      int
	Decisions   uint64
	Samples     uint64
	Context     *spread      `json:",omitempty"` // statistics of the Encoding's numbers, if it standardises
	Action      *spread      `json:",omitempty"`
	Change      *detector    `json:",omitempty"`
	Pending     []waitingRow // decisions that wait for feedback, without their inputs
	Log         *uint64      `json:",omitempty"` // number of the log's first record after this file
	Arms        *ArmSet      `json:",omitempty"` // set if arms have changed, or have names
	Grown       []int        `json:",omitempty"` // numbers of arms: see form.steps

	of *form // the form of the saved agent
}

// Save writes the agent and its configuration to a file. The write is atomic: if Save fails, the file is unchanged. The
// written state is always finite. The error is an error of the disk, or ErrLog.
func (a *Agent) Save(path string) error {
	err := a.save(func(f file, state []*tensors.Tensor) error { return saved.Write(path, f, state) })
	if err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// save passes the header and the state of the agent to write.
func (a *Agent) save(write func(f file, state []*tensors.Tensor) error) error {
	if a.currentForm().reader != nil {
		return errors.New("a Reader cannot be saved: it draws other random numbers than the agent whose file it reads")
	}
	now, f, waiting := a.whole()
	defer now.drop()
	description, err := describe(f.of.made)
	if err != nil {
		return err
	}
	var inputs []*tensors.Tensor
	f.Pending, inputs = saving(waiting)
	defer free(inputs...)
	f.Format, f.Version, f.Config, f.Fingerprint = format, hyper.Version, description, fingerprint(description)
	if f.Arms != nil {
		f.Format = armsFormat
	}
	if err := a.syncLog(); err != nil { // after a loss of power, the log must have all that the file has
		return err
	}
	s, err := f.of.wholeOf(now, nil)
	if err != nil {
		return err
	}
	defer s.drop()
	return write(f, slices.Concat(s.tensors(), inputs))
}

// whole returns the agent's state, the other contents of a file, and the decisions that the agent remembers, all from
// the same moment. The caller drops the state.
func (a *Agent) whole() (*snapshot, file, []waiting) {
	a.learning.Lock()
	defer a.learning.Unlock()
	a.committing.Lock()
	defer a.committing.Unlock()
	s, f := a.current(), file{of: a.form, Names: a.names, Decisions: a.decisions.Load(), Samples: a.samples.Load()}
	if !a.set.AllInOrder() || len(a.steps) > 0 || len(a.set.Names) > 0 {
		f.Arms, f.Grown = &a.set, a.steps
	}
	f.Data, f.Rounds = s.data, s.rounds
	if a.config.Change != nil {
		f.Change = &s.change
	}
	f.Context, f.Action = a.encoder.spreads()
	if a.log != nil {
		next := a.log.Next()
		f.Log, f.Decisions = &next, a.pending.made() // a decision that is not in the log may be made again
	}
	return s, f, a.pending.all()
}

// File is the header of a file that Save wrote.
type File struct {
	Arms ArmSet // zero if arms have not changed since the agent was made, and have no names
	Log  uint64 // number of the first record of the log that the file does not contain; 0 without a log
}

// ReadFile reads the header of a file. The error wraps fs.ErrNotExist, or ErrDamaged.
func ReadFile(path string) (out File, err error) {
	var f file
	if err := saved.Read(path, &f, nil); err != nil {
		return out, fmt.Errorf("reading %s: %w", path, err)
	}
	if f.Arms != nil && !f.Arms.valid() {
		return out, fmt.Errorf("reading %s: %w: its arms are %+v", path, saved.ErrDamaged, *f.Arms)
	}
	if f.Arms != nil {
		out.Arms = *f.Arms
	}
	if f.Log != nil {
		out.Log = *f.Log
	}
	return out, nil
}
