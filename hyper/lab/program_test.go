package lab_test

import (
	"slices"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// firstSpec returns a small Spec of an experiment's agent.
func firstSpec(experiment, agent string, sets ...string) lab.Spec {
	return must.M1(must.M1(lab.Find(paper.Known, experiment)).Spec([]string{agent}, sets, lab.Size{Periods: 50, Runs: 4}, 0))
}

// programSizes returns the numbers of operations of the programs of an experiment's agent.
func programSizes(experiment, agent string, sets ...string) (start, advance int) {
	start, advance, _ = must.M3(lab.ProgramSizes(firstSpec(experiment, agent, sets...), backend.XLACPU, 4))
	return start, advance
}

// A call does not return, and so does not copy, what no period changes. This includes the prior, which is a large part
// of an ensemble's state.
func TestProgramsReturnWhatChanges(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		_, _, unchanged := must.M3(lab.ProgramSizes(firstSpec("neural", "ensemble", "particles=10"), name, 4))
		for _, n := range []string{"agent.anchor.0", "agent.fixed.prior.theta", "run.seed"} {
			if !slices.Contains(unchanged, n) {
				t.Errorf("a call returns %s; it leaves out only %v", n, unchanged)
			}
		}
		for _, n := range []string{"agent.nu.0", "agent.replay.y", "run.period", "run.regret"} {
			if slices.Contains(unchanged, n) {
				t.Errorf("a call does not return %s", n)
			}
		}
	})
}

// The time that a simulation takes to start is the time to compile its programs, which grows with their size. The
// bounds are a tenth above the present sizes.
func TestProgramsAreSmall(t *testing.T) {
	if backend.Check(backend.XLACPU) != nil {
		t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
	}
	for _, c := range []struct {
		experiment, agent, set string
		start, advance         int
	}{
		{"gaussian", "linear", "arms=10", 1360, 1880},
		{"gaussian", "ensemble", "arms=10", 1030, 1400},
		{"neural", "linear", "actions=200", 1420, 3440},
		{"neural", "ensemble", "particles=10", 1470, 2690},
		{"ids", "ids", "policy=ids", 270, 2460},
	} {
		start, advance := programSizes(c.experiment, c.agent, c.set)
		if start > c.start || advance > c.advance {
			t.Errorf("%s of %s: %d operations to start, at most %d; %d to advance, at most %d",
				c.agent, c.experiment, start, c.start, advance, c.advance)
		}
	}
}

// A program does not grow with the SGD steps of a period: 16 steps need at most 1.3 times the operations of 4 steps.
func TestProgramsDoNotGrowWithSteps(t *testing.T) {
	if backend.Check(backend.XLACPU) != nil {
		t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
	}
	for _, c := range [][]string{
		{"gaussian", "linear"},
		{"gaussian", "linear", "integrate=full-data"},
		{"gaussian", "ensemble"},
		{"neural", "linear"}, // adam: up to 8 steps are built one after the other
		{"neural", "linear", "optimizer=sgd", "clip=5"},
		{"ids", "ids"},
	} {
		_, few := programSizes(c[0], c[1], append([]string{"sgd-steps=4"}, c[2:]...)...)
		_, many := programSizes(c[0], c[1], append([]string{"sgd-steps=16"}, c[2:]...)...)
		if 10*many > 13*few {
			t.Errorf("%v: %d operations with 4 SGD steps, %d with 16", c, few, many)
		}
	}
}
