package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// simulator returns a simulator that runs agents of an experiment. It writes no files, and runs nothing twice.
func simulator(ctx context.Context, x lab.Experiment, seed uint64, engine engineFlags) study.Simulator {
	type results struct {
		h    lab.Header
		rows []lab.Row
	}
	done := map[string]results{}
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		asked := fmt.Sprintf("%q %q %v", agents, sets, size)
		if r, ok := done[asked]; ok {
			return r.h, r.rows, nil
		}
		spec, err := x.Spec(agents, sets, size, seed)
		if err != nil {
			return lab.Header{}, nil, err
		}
		r, err := work(engine, "", func(o lab.Options) (results, error) {
			h, rows, err := lab.Simulate(ctx, spec, knownExperiments, o)
			return results{h, rows}, err
		})
		if errors.Is(err, lab.ErrInterrupted) {
			fmt.Fprintln(os.Stderr, "hyper: interrupted; check does not keep results")
		}
		if err == nil {
			done[asked] = r
		}
		return r.h, r.rows, err
	}
}

// readStudy reads an experiment's results from the files that match the patterns.
func readStudy(x lab.Experiment, patterns []string, mix mixFlag) (h lab.Header, rows []lab.Row, err error) {
	var paths []string
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			return h, nil, fmt.Errorf("--study %s: %w", p, err)
		}
		if len(found) == 0 {
			return h, nil, fmt.Errorf("--study %s: no such file or folder", p)
		}
		paths = append(paths, found...)
	}
	if err := notOfRun(paths); err != nil {
		return h, nil, err
	}
	h, rows, err = analysis.Reader{Mix: mix.reporter()}.Read(knownExperiments, paths...)
	if err == nil && h.Spec.Experiment != x.Name {
		err = fmt.Errorf("--study has results of experiment %s, not of %s", h.Spec.Experiment, x.Name)
	}
	return h, rows, err
}
