package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	_ "github.com/hypermodels/hypermodels/hyper/bandit/sheet/parquet" // reads FILE.parquet
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// experimentOf returns the experiment of an argument. For the file of a table it returns the experiment table, and the
// setting with the file's name.
func experimentOf(name string) (experiment string, sets []string) {
	if extension := strings.ToLower(filepath.Ext(name)); extension != ".csv" && extension != ".parquet" {
		return name, nil
	}
	return "table", []string{"file=" + filepath.Clean(name)}
}

// otherFile returns an error if an argument is not the name of an experiment, but of a file that is not read as a
// table.
func otherFile(name string) error {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || slices.Contains(experiments(), name) {
		return nil
	}
	return fmt.Errorf("%s is not read as a table: only files whose names end in .csv or .parquet are; rename it, or save "+
		"it as CSV", name)
}

// sayTables prints how the files of a new Spec's tables were read, one line for each. It returns an error if a file
// seems to have a mistake.
func sayTables(w io.Writer, spec lab.Spec) error {
	said := map[string]bool{}
	for _, e := range spec.Entries {
		if t, ok := e.Setting.World.(*bandit.Table); ok && t.File != "" && !said[t.Summary()] {
			if err := t.Doubts(); err != nil {
				return err
			}
			said[t.Summary()] = true
			fmt.Fprintln(w, t.Summary())
		}
	}
	return nil
}

// withFiles returns an experiment that includes the agents of files, and the names of all agents.
func withFiles(x lab.Experiment, agents []string) (lab.Experiment, []string, error) {
	agents = slices.Clone(agents)
	for i, path := range agents {
		if filepath.Ext(path) != ".json" {
			continue
		}
		kind, settings, err := readLearner(path)
		if err == nil {
			agents[i] = ownName(path)
			x, err = x.WithLearner(agents[i], kind, settings)
		}
		if place, ok := errors.AsType[*fs.PathError](err); ok {
			err = place.Err // the path once is enough
		}
		if err != nil {
			return x, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return x, agents, nil
}

// sayTable is sayTables for a search.
func sayTable(w io.Writer, x lab.Experiment, t tune.Search) error {
	if spec, err := x.Spec([]string{t.Agent}, t.Sets, t.Size, t.Seed); err == nil {
		return sayTables(w, spec)
	}
	return nil // the search reports the error
}

// searched sets the experiment and the agent of a search, which arguments name as for hyper run. It returns the
// experiment with the agent.
func searched(t *tune.Search, name, agent string) (lab.Experiment, error) {
	name, own := experimentOf(name)
	x, err := experiment(name)
	if err != nil {
		return x, err
	}
	x, agents, err := withFiles(x, []string{agent})
	if err != nil {
		return x, err
	}
	t.Experiment, t.Agent, t.Sets = x.Name, agents[0], append(own, t.Sets...)
	if t.Agent == agent {
		return x, nil
	}
	kind, settings, err := readLearner(agent)
	t.Own = &tune.Own{Learner: kind}
	if err == nil {
		err = json.Unmarshal(settings, &t.Own.Settings)
	}
	return x, err
}

// ownName returns the name of the agent of a learner's file.
func ownName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

const maxLearnerBytes = 1 << 20

// readLearner reads {"learner": KIND, "settings": {KEY: VALUE}}.
func readLearner(path string) (kind string, settings json.RawMessage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxLearnerBytes+1))
	if err != nil {
		return "", nil, err
	}
	if len(text) > maxLearnerBytes {
		return "", nil, fmt.Errorf("a learner's file must have at most %d bytes", maxLearnerBytes)
	}
	var own struct {
		Learner  string          `json:"learner"`
		Settings json.RawMessage `json:"settings"`
	}
	if err := strict.JSON(text, &own); err != nil {
		return "", nil, fmt.Errorf(`want {"learner": KIND, "settings": {KEY: VALUE}}: %w`, err)
	}
	if own.Settings == nil {
		own.Settings = json.RawMessage("{}")
	}
	return own.Learner, own.Settings, nil
}
