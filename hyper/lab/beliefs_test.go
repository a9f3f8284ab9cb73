package lab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// The rows that come with beliefs are exactly the rows of a run, for each kind of agent.
func TestBeliefsAreReadInARun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many agents")
	}
	for name, agents := range map[string][]string{"gaussian": {"exact", "linear", "ensemble"},
		"ids": {"ids", "exact-thompson"}, "neural": {"egreedy", "linear"}} {
		sets := map[string][]string{"ids": {"size=8"}, "neural": {"actions=12"}}[name]
		spec := must.M1(must.M1(lab.Find(paper.Known, name)).Spec(agents, sets, lab.Size{Periods: 12, Runs: 3}, 5))
		_, want, err := lab.Simulate(t.Context(), spec, paper.Known, lab.Options{Backend: backend.Go, BatchRuns: 3})
		must.M(err)
		reader := lab.BeliefReader{Backend: backend.Go}
		got, beliefs := must.M2(reader.Read(t.Context(), spec, 12, 40))
		if !slices.Equal(got, want) {
			t.Errorf("%s: other rows than of a run", name)
		}
		early, _ := must.M2(reader.Read(t.Context(), spec, 4, 40))
		for _, r := range early {
			if r.Period > 4 || !slices.Contains(want, r) {
				t.Errorf("%s: row %+v at period 4", name, r)
			}
		}
		for i, b := range beliefs {
			if len(b.Functions) != 40 || len(b.Functions[0]) != len(b.Truth) || len(b.Truth) == 0 {
				t.Errorf("%s, agent %s: %d functions, %d true means", name, agents[i], len(b.Functions), len(b.Truth))
			}
		}
	}
}

// A belief is about the truth: an agent knows the arms that it has often played.
func TestBeliefsNearTheTruth(t *testing.T) {
	spec := must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=2", "noise-variance=0.01"},
		lab.Size{Periods: 200, Runs: 1}, 3))
	_, beliefs := must.M2(new(lab.BeliefReader).Read(t.Context(), spec, 200, 500))
	for i, b := range beliefs {
		best := 0
		if b.Truth[1] > b.Truth[0] {
			best = 1
		}
		mean := 0.0
		for _, f := range b.Functions {
			mean += float64(f[best]) / float64(len(b.Functions))
		}
		if d := mean - float64(b.Truth[best]); d > 0.1 || d < -0.1 {
			t.Errorf("entry %d: the best arm is taken for %.3f, and is %.3f", i, mean, b.Truth[best])
		}
	}
}

func TestReadingBeliefsEnds(t *testing.T) {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"arms=2"}, lab.Size{Periods: 10, Runs: 1}, 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var reader lab.BeliefReader
	if _, _, err := reader.Read(ctx, spec, 10, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, c := range [][2]int{{0, 1}, {11, 1}, {1, 0}} {
		if _, _, err := reader.Read(t.Context(), spec, c[0], c[1]); err == nil {
			t.Errorf("period %d, %d functions: no error", c[0], c[1])
		}
	}
}

// The belief of a linear hypermodel about three arms after 50 periods.
func ExampleBeliefReader() {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"arms=3"}, lab.Size{Periods: 100, Runs: 4}, 1))
	_, beliefs := must.M2(new(lab.BeliefReader).Read(context.Background(), spec, 50, 200))
	fmt.Println(len(beliefs[0].Functions), "functions of", len(beliefs[0].Truth), "arms")
	// Output: 200 functions of 3 arms
}
