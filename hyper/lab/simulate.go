package lab

import (
	"context"
	"os"
)

// Simulate runs a Spec to the end and returns its results. If opts.Dir is "", the results are not kept. Otherwise
// Simulate continues results of the same Spec in that folder; if they are complete, it only reads them.
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
