package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// logged is a log of decisions, and the Spec of the agent that learns from the log.
type logged struct {
	log   *offline.Log
	spec  api.Spec
	close func()
}

// addAgent adds the flag --agent of commands that read a log.
func addAgent(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "agent", "", "FILE.json: the agent, as for hyper serve (default: the agent in the folder of "+
		"hyper serve)")
}

// openLogged opens for reading a server's folder, the folder of a program's log, or a file of decisions. agent is the
// file of --agent, or "". weighed says whether a file of decisions must have probabilities.
func openLogged(path, agent string, weighed bool) (logged, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return openFile(path, agent, weighed)
	}
	return openFolder(path, agent)
}

func openFile(path, agent string, weighed bool) (logged, error) {
	if err := lines.CheckName(path); err != nil {
		return logged{}, err
	}
	if agent == "" {
		return logged{}, fmt.Errorf("%s: this file needs an agent: give it with --agent FILE.json", path)
	}
	spec, err := agentfile.Read(agent)
	if err != nil {
		return logged{}, err
	}
	records := func() offline.Records { return offline.FileLog(path, spec, weighed) }
	log, err := offline.OpenLog(records, spec, nil)
	return logged{log: log, spec: spec, close: func() {}}, err
}

// openFolder opens the log in a server's folder, or a folder that is a program's log.
func openFolder(dir, agent string) (logged, error) {
	server, folder := dir, filepath.Join(dir, "log")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		server, folder = filepath.Dir(filepath.Clean(dir)), dir
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	log, err := durable.Open(folder, durable.Options{ReadOnly: true, Log: logger})
	if errors.Is(err, fs.ErrNotExist) {
		return logged{}, fmt.Errorf("%w: want the folder of a hyper serve that learns, or a folder that a program "+
			"gave to durable.Open", err)
	}
	if err != nil {
		return logged{}, err
	}
	f := &folderLog{log: log}
	l := logged{close: f.close}
	own, err := agentfile.OfFolder(server)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.log, l.spec, err = readProgram(agent, f.records)
	case err == nil:
		l.log, l.spec, err = readServer(server, own, agent, f.records)
	}
	if err != nil {
		return logged{}, errors.Join(err, log.Close())
	}
	return l, nil
}

// readProgram reads a program's log, and the Spec in the file agent, which names the inputs of the log.
func readProgram(agent string, records func() offline.Records) (*offline.Log, api.Spec, error) {
	if agent == "" {
		return nil, api.Spec{}, errors.New("the inputs of this log have no names: name them with --agent FILE.json, " +
			"a file as for hyper serve")
	}
	spec, err := agentfile.Read(agent)
	if err != nil {
		return nil, spec, err
	}
	log, err := offline.OpenLog(records, spec, nil)
	return log, spec, err
}

// readServer reads the log of a server whose folder has the Spec own. The Spec in the file agent replaces own, and must
// fit it.
func readServer(dir string, own api.Spec, agent string, records func() offline.Records) (*offline.Log, api.Spec,
	error) {
	log, err := offline.OpenFolder(dir, records)
	if err != nil || agent == "" {
		return log, own, err
	}
	spec, err := agentfile.Read(agent)
	if err != nil {
		return nil, spec, err
	}
	return log, spec, faults.Prefix(agent+": ", agentfile.CheckContinues(spec, own))
}

// folderLog reads the log in a folder.
type folderLog struct {
	log   *durable.Log
	added int // number of data of the log without a decision
}

// records returns the records of the log from the first on, and counts the data without a decision.
func (l *folderLog) records() offline.Records {
	l.added = 0
	return func(yield func(journal.Record, error) bool) {
		for r, err := range l.log.All(0) {
			if r.Datum != nil {
				l.added++
			}
			if errors.Is(err, durable.ErrGap) {
				err = fmt.Errorf("%w: if a hyper serve with --keep-log has just dropped them, run the command again",
					err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// close closes the log, and prints the number of data that no other agent can learn from.
func (l *folderLog) close() {
	_ = l.log.Close() // errors do not matter: the log was only read
	if l.added > 0 {
		fmt.Fprintf(os.Stderr, "hyper: left out %d data that a program gave to its agent by the method Add. These data "+
			"record no decision, so that another agent cannot learn from them\n", l.added)
	}
}

// whichLog describes the argument LOG in the help.
const whichLog = `LOG is one of:
  - the folder of hyper serve
  - the folder that a program gave to durable.Open, or the parent of this folder
    if the folder's name is log. Such a log has inputs without names. --agent
    FILE.json must list their names in the same order.
  - FILE.csv with the columns arm, reward, probability (with which the policy
    took the arm; evaluate requires it), optionally weight, and a column for
    each feature of the context
  - FILE.jsonl with lines such as
    {"context": {"age": 41}, "arm": "new", "probability": 0.5, "reward": 1}.
    For a decision among listed actions, a line has "actions", and "action" is
    the index of the action taken.`
