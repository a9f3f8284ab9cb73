package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// logged is a log and the agent that it is read for. The log was written by a server or a program, or is a file of
// another policy's decisions.
type logged struct {
	file    string // file of the Spec
	log     *durable.Log
	path    string // file of another policy's decisions; "" if log is set
	weighed bool   // whether the file must have probabilities
	spec    api.Spec
	means   *offline.Log
	added   int // number of data of the log without a decision
}

func (l *logged) flag(c *cobra.Command) {
	c.Flags().StringVar(&l.file, "agent", "", "file of the agent, as hyper serve takes it; default: the agent "+
		"in the folder of hyper serve")
}

// open opens for reading the log in a server's folder, a folder that is a log itself, or a file of decisions.
func (l *logged) open(dir string) (err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return l.openFile(dir)
	}
	of, folder := dir, filepath.Join(dir, "log")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		of, folder = filepath.Dir(filepath.Clean(dir)), dir
	}
	l.log, err = durable.Open(folder, durable.Options{ReadOnly: true, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: want the folder of a hyper serve that learns, or a folder that a program has given to "+
			"durable.Open", err)
	}
	if err != nil {
		return err
	}
	if err := l.read(of); err != nil {
		return errors.Join(err, l.log.Close())
	}
	return nil
}

// openFile sets the file of decisions, and reads the Spec.
func (l *logged) openFile(path string) (err error) {
	if err := lines.CheckName(path); err != nil {
		return err
	}
	if l.file == "" {
		return fmt.Errorf("%s: this file needs an agent: give it with --agent FILE.json", path)
	}
	l.path = path
	if l.spec, err = agentfile.Read(l.file); err == nil {
		l.means, err = offline.OpenLog(l.records, l.spec, nil)
	}
	return err
}

// read reads the Spec, and the Spec of a server's folder, which must fit it.
func (l *logged) read(dir string) error {
	own, err := agentfile.OfFolder(dir)
	served := !errors.Is(err, fs.ErrNotExist)
	switch {
	case served && err != nil:
		return err
	case served:
		if l.means, err = offline.OpenFolder(dir, l.records); err != nil {
			return err
		}
	}
	switch {
	case !served && l.file == "":
		return errors.New("the log is not in a folder of hyper serve, and has numbers without names: name them in " +
			"a file as hyper serve takes it, with --agent FILE.json")
	case l.file == "":
		l.spec = own
		return nil
	}
	if l.spec, err = agentfile.Read(l.file); err != nil {
		return err
	}
	if !served {
		l.means, err = offline.OpenLog(l.records, l.spec, nil)
		return err
	}
	return faults.Prefix(l.file+": ", agentfile.CheckContinues(l.spec, own))
}

// records returns the records of the log from the first on, and counts the data that were added without a decision.
func (l *logged) records() offline.Records {
	l.added = 0
	if l.path != "" {
		return offline.FileLog(l.path, l.spec, l.weighed)
	}
	return func(yield func(journal.Record, error) bool) {
		for r, err := range l.log.All(0) {
			if r.Datum != nil {
				l.added++
			}
			if errors.Is(err, durable.ErrGap) {
				err = fmt.Errorf("%w: if a hyper serve with --keep-log has just dropped them, run the command again", err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// close closes the log, and prints the number of data that no other agent can learn from.
func (l *logged) close() {
	if l.log != nil {
		_ = l.log.Close() // errors do not matter: the log was only read
	}
	if l.added > 0 {
		fmt.Fprintf(os.Stderr, "hyper: left out %d data that a program added to its agent by Add: they are inputs of "+
			"that agent, without a decision\n", l.added)
	}
}

// whichLog describes the argument LOG in the help.
const whichLog = "LOG is one of these. (1) The folder of hyper serve. (2) The folder that a program has given to " +
	"durable.Open, or its parent if the folder is named log; the file of --agent then names the log's numbers, in their " +
	"order. (3) A file with the decisions of another policy. A .csv file has the columns arm, reward, probability (with " +
	"which the policy took the arm; evaluate needs it), optionally weight, and one for each feature of the context. Each " +
	`line of a .jsonl file is like {"context": {"age": 41}, "arm": "new", "probability": 0.5, "reward": 1}, or has actions, ` +
	"and as action the index of the action that was taken."
