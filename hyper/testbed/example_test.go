package testbed_test

import (
	"context"
	"fmt"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// The testbed's agents, and an agent of the caller: an ensemble of five small networks, trained by 100 SGD steps.
func ExampleAgents() {
	s := testbed.Classification()
	small := must.M1(testbed.FromCatalog(s, "small", "ensemble", []byte(`{"particles":5,"hidden":"20"}`), 100))
	agents := append(testbed.Agents(s), small)
	for _, a := range agents {
		fmt.Printf("%s: %d steps; %v\n", a.Name, a.Steps(10, 10_000), a.Validate(10, 10_000))
	}
	// Output:
	// mlp: 1000 steps; <nil>
	// ensemble: 5000 steps; <nil>
	// ensemble+: 5000 steps; <nil>
	// hypermodel: 5000 steps; <nil>
	// epinet: 10000 steps; <nil>
	// dropout: 5000 steps; <nil>
	// bbb: 5000 steps; <nil>
	// network-gp: 5000 steps; <nil>
	// small: 100 steps; <nil>
}

// A small ensemble is tried on the first problem of a sweep.
func ExampleTry() {
	s := testbed.Classification2D()
	s.Problems = s.Problems[:1]
	o := testbed.Options{Backend: backend.Go, Batches: 10, Taus: []int{1}}
	var results []testbed.Result
	small := must.M1(testbed.FromCatalog(s, "small", "ensemble", []byte(`{"particles":5,"hidden":"20"}`), 100))
	must.M(testbed.Try(context.Background(), small, s, o, func(r []testbed.Result) error {
		results = append(results, r...)
		return nil
	}))
	for _, l := range testbed.Leaderboard(s, results, "small") {
		fmt.Printf("%s, tau = %d, %d problem: %.0f of the baseline\n", l.Agent, l.Tau, l.Problems, float64(l.Ratio.Value))
	}
	// Output:
	// small, tau = 1, 1 problem: 1 of the baseline
}
