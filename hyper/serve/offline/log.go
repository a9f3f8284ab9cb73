package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Log is the log of an agent. It has the records, and the names of the arms and features that their numbers mean.
type Log struct {
	all             func() Records
	own             api.Spec
	arms            []string     // names of all arms that the log has ever had, by their numbers
	made            int          // number of arms at the beginning
	changed         bool         // whether arms have changed
	context, action api.Features // features at the beginning
	begins          uint64       // the number of the first record
}

// OpenLog reads a log once. all returns its records, from the first on. For the log of a server, own is the Spec of its
// folder (see [agentfile.OfFolder]), and arms has the names of the arms by number, as far as they are known. For
// another log, own has the names of the log's numbers, in their order.
func OpenLog(all func() Records, own api.Spec, arms []string) (*Log, error) {
	l := &Log{all: all, own: own, arms: own.Arms, context: own.Context, action: own.Action}
	if len(arms) > 0 {
		l.arms = arms
	}
	l.made = len(l.arms)
	any, renamed := false, false
	for r, err := range all() {
		if err != nil {
			return nil, err
		}
		if !any {
			any, l.begins = true, r.Number
		}
		if f := r.Features; f != nil && !renamed {
			renamed, l.context, l.action = true, agentfile.FromJournal(f.WasContext), agentfile.FromJournal(f.WasAction)
		}
		if r.Arms == nil {
			continue
		}
		if !l.changed {
			l.changed, l.made = true, r.Arms.Was
		}
		if len(r.Arms.Names) > len(l.arms) || len(r.Arms.Names) > 0 && len(arms) == 0 {
			l.arms = r.Arms.Names
		}
		if len(r.Arms.Like) > len(l.arms) {
			return nil, fmt.Errorf("record %d: the log has %d arms, and the file has %d: "+
				"it must name them all, in the order of their numbers",
				r.Number, len(r.Arms.Like), len(l.arms))
		}
	}
	return l, nil
}

// First returns the number of the first record. It is above 0 if the log has dropped records.
func (l *Log) First() uint64 { return l.begins }

// OpenFolder reads the log of a server once. dir is the server's folder, and all returns the log's records.
func OpenFolder(dir string, all func() Records) (*Log, error) {
	own, err := agentfile.OfFolder(dir)
	if err != nil {
		return nil, err
	}
	f, err := agent.ReadFile(filepath.Join(dir, agentfile.AgentFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, agent.ErrDamaged) {
		return nil, err
	}
	return OpenLog(all, own, f.Arms.Names)
}

// Records is the sequence of a log's records, from old to new. It ends with its first error.
type Records = iter.Seq2[journal.Record, error]
