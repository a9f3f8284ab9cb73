package plot

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

func named(agent string, keysAndValues ...any) analysis.Curve {
	c := analysis.Curve{Agent: agent, Settings: map[string]any{}, Runs: 3}
	for i := 0; i < len(keysAndValues); i += 2 {
		c.Settings[keysAndValues[i].(string)] = keysAndValues[i+1]
	}
	return c
}

func diverged(c analysis.Curve, runs, diverged int) analysis.Curve {
	c.Runs, c.Diverged = runs, diverged
	return c
}

func of(learner string, c analysis.Curve) analysis.Curve {
	c.Learner = learner
	return c
}

func TestLabels(t *testing.T) {
	for name, c := range map[string]struct {
		curves []analysis.Curve
		always []string
		want   []string
	}{
		"one": {[]analysis.Curve{named("linear", "arms", 10)}, nil, []string{"linear"}},
		"only the difference": {[]analysis.Curve{named("ensemble", "arms", 10, "particles", 3),
			named("ensemble", "arms", 10, "particles", 30)}, nil,
			[]string{"ensemble, particles=3", "ensemble, particles=30"}},
		"agents stand for theirs": {[]analysis.Curve{named("linear", "step-size", 1.0), named("ensemble", "step-size", 0.5)},
			nil, []string{"linear", "ensemble"}},
		"a key another shares": {[]analysis.Curve{named("exact", "arms", 10), named("linear", "arms", 10),
			named("linear", "arms", 50)}, nil, []string{"exact, arms=10", "linear, arms=10", "linear, arms=50"}},
		"a key another lacks": {[]analysis.Curve{named("exact"), named("linear", "m", 1), named("linear", "m", 2)}, nil,
			[]string{"exact", "linear, m=1", "linear, m=2"}},
		"two keys, sorted": {[]analysis.Curve{named("a", "z", 1, "b", "x"), named("a", "z", 2.5, "b", "y")}, nil,
			[]string{"a, b=x, z=1", "a, b=y, z=2.5"}},
		"asked for": {[]analysis.Curve{named("exact", "arms", 10)}, []string{"arms", "none"},
			[]string{"exact, arms=10"}},
		"learners of one name": {[]analysis.Curve{of("ensemble", named("mine", "step-size", 0.02)),
			of("linear", named("mine", "step-size", 1.0)), of("linear", named("mine", "step-size", 0.5))}, nil,
			[]string{"mine, learner=ensemble, step-size=0.02", "mine, learner=linear, step-size=1",
				"mine, learner=linear, step-size=0.5"}},
		"one learner": {[]analysis.Curve{of("linear", named("mine")), of("ensemble", named("yours"))}, nil,
			[]string{"mine", "yours"}},
		"diverged": {[]analysis.Curve{diverged(named("a"), 10, 3), diverged(named("b"), 4, 4)}, nil,
			[]string{"a (3 of 10 diverged)", "b (all 4 diverged)"}},
		"none": {nil, nil, []string{}},
	} {
		if got := Labels(c.curves, c.always...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func ExampleLabels() {
	fmt.Println(Labels([]analysis.Curve{
		{Agent: "ensemble", Settings: map[string]any{"arms": 10, "particles": 30}},
		{Agent: "ensemble", Settings: map[string]any{"arms": 10, "particles": 100}},
	})[0])
	// Output: ensemble, particles=30
}
