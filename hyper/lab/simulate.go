package lab

import (
	"context"
	"os"
)

// Simulate runs a Spec to the end and returns its results. With opts.Dir "" they are kept nowhere; else Simulate goes
// on where results of the same Spec in that folder end, so that running a finished Spec again reads its file.
func Simulate(ctx context.Context, spec Spec, known map[string]Experiment, opts Options) (Header, []Row, error) {
	if opts.Dir == "" {
		dir, err := os.MkdirTemp("", "hyper-")
		if err != nil {
			return Header{}, nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		opts.Dir = dir
	}
	if _, err := Run(ctx, spec, known, opts); err != nil {
		return Header{}, nil, err
	}
	return ReadResults(opts.Dir, known)
}
