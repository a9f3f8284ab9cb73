package beyond_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	_ "github.com/hypermodels/hypermodels/hyper/internal/testbackend" // few collections of garbage
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Every agent runs with small numbers, its defaults and the experiment's sizes are valid, and no run diverges.
func TestEveryAgentRuns(t *testing.T) {
	for _, name := range beyond.Order {
		x := beyond.Known[name]
		for _, size := range []lab.Size{x.Quick, x.Full} {
			if _, err := x.Spec(nil, nil, size, 1); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for i, agent := range x.Order {
			if i%3 > 0 && testing.Short() {
				continue
			}
			sets := []string{"actions=6"}
			if name == beyond.QuadraticBandit.Name {
				sets = append(sets, "offered=3")
			}
			values := catalog.Values(must.M1(x.New(agent)))
			for _, set := range []string{"batch=16", "index-samples=8", "sgd-steps=2", "waves=20", "particles=5"} {
				key, _, _ := strings.Cut(set, "=")
				if value, has := values[key]; has && fmt.Sprint(value) != "0" {
					sets = append(sets, set)
				}
			}
			spec := must.M1(x.Spec([]string{agent}, sets, lab.Size{Periods: 4, Runs: 2}, 1))
			h, rows := must.M2(lab.Simulate(t.Context(), spec, beyond.Known,
				lab.Options{Backend: backend.Go, BatchRuns: 2}))
			for _, c := range analysis.Curves(h, rows) {
				if c.Diverged > 0 || c.Runs != 2 || len(x.Order) != len(x.Agents) {
					t.Errorf("%s, %s: %d runs, %d diverged", name, c.Agent, c.Runs, c.Diverged)
				}
			}
		}
	}
}

// The expected regrets with one unknown action are those in OneUnknown's comment: 1/2 from joint predictions, A/4 from
// marginals. The test has 1,000 runs. The standard deviation is 1/2, or less than 1.8 times the mean if the number of
// trials is geometric; the bound is five standard errors. After 100 periods nearly every run with 8 arms has found the
// arm.
func TestRegretsOfOneUnknownAction(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a thousand runs")
	}
	const runs, periods = 1000, 100
	spec := must.M1(beyond.UnknownAction.Spec(nil, []string{"actions=2,8"}, lab.Size{Periods: periods, Runs: runs}, 7))
	h, rows := must.M2(lab.Simulate(t.Context(), spec, beyond.Known, lab.Options{Backend: backend.Go, BatchRuns: runs}))
	for _, c := range analysis.Curves(h, rows) {
		want, relative := 0.5, 1.
		if c.Agent == "marginal" {
			want, relative = float64(c.Settings["actions"].(int))/4, 1.8
		}
		if got := c.Mean[len(c.Mean)-1]; math.Abs(got/want-1) > 5*relative/math.Sqrt(runs) {
			t.Errorf("%s with %v actions: regret %v, want %v", c.Agent, c.Settings["actions"], got, want)
		}
	}
}

// simulated returns a simulator with artificial regrets, which depend on the number of the call and on the entry. After
// half of the periods all regrets are 50.
func simulated(x lab.Experiment, regret func(call, entry int) float64) study.Simulator {
	call := 0
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		spec, err := x.Spec(agents, sets, size, 0)
		if err != nil {
			return lab.Header{}, nil, fmt.Errorf("the claim's settings: %w", err)
		}
		var rows []lab.Row
		for i := range spec.Entries {
			for run := range size.Runs {
				factor := 1 + float64((run*7+3*i)%5)/100
				half := lab.Row{Entry: i, Run: run, Seed: uint64(run), Period: size.Periods / 2, Regret: stats.Float(50 * factor)}
				row := half
				row.Period, row.Regret = size.Periods, stats.Float(regret(call, i)*factor)
				rows = append(rows, half, row)
			}
		}
		call++
		return lab.Header{Spec: spec}, rows, nil
	}
}

// Claims have unique names, and judge artificial results at both sizes: a first side with less regret or with more, and
// regrets that grow as a power of the number of actions.
func TestClaimsJudge(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range beyond.Order {
		for _, claim := range beyond.Claims[name] {
			if seen[claim.Name] {
				t.Errorf("two claims are named %s", claim.Name)
			}
			seen[claim.Name] = true
			for _, size := range []lab.Size{claim.Quick, claim.Full} {
				judge(t, beyond.Known[name], claim, size)
			}
		}
	}
}

func judge(t *testing.T, x lab.Experiment, claim study.Claim, size lab.Size) {
	t.Helper()
	wants := map[float64]study.Verdict{0.5: study.Reproduced, 2: study.Refuted} // factors of the first side
	regret := func(v float64) func(int, int) float64 {
		return func(call, _ int) float64 { return 100 * math.Pow(v, float64(1-call)) }
	}
	if x.Name == beyond.UnknownAction.Name {
		wants = map[float64]study.Verdict{0: study.Reproduced, 1: study.Refuted} // powers
		if claim.Name == "marginal-linear" {
			wants = map[float64]study.Verdict{1: study.Reproduced, 0: study.Refuted, 0.8: study.Refuted}
		}
		regret = func(v float64) func(int, int) float64 {
			return func(_, entry int) float64 { return math.Pow(2, v*float64(entry)) }
		}
	}
	if strings.HasSuffix(claim.Name, "-linear") && x.Name == beyond.QuadraticBandit.Name {
		wants = map[float64]study.Verdict{1: study.Reproduced, 0.5: study.Refuted, 2: study.Refuted}
	}
	for v, want := range wants {
		f, err := claim.Test(simulated(x, regret(v)), size)
		if err != nil || f.Verdict != want || f.Runs != size.Runs || f.Kind == "" {
			t.Errorf("%s at %v: %+v, %v; want %s", claim.Name, size, f, err, want)
		}
	}
}

// Agents of the testbed have the weight decay of their settings, make one SGD step in each period, and report faults by
// key. Prior functions have the scales of ATS, and ensembles 100 particles.
func TestTestbedAgentsAreSet(t *testing.T) {
	x := beyond.TestbedBandit
	for _, name := range x.Order {
		s := must.M1(x.New(name))
		l, features := must.M2(s.Handover(50))
		values := catalog.Values(s)
		prior, of := values["prior-scale"].(float64)
		if want := map[string]float64{"ensemble+": 9.49, "hypermodel": 3.16, "epinet": 3, "network-gp": 1}[name]; prior != want ||
			of && math.Abs(l.InitVariance-want*want) > 1e-9 || !of && l.InitVariance != -1 {
			t.Errorf("%s: prior scale %v, want %v, variance %v", name, prior, want, l.InitVariance)
		}
		if n, has := values["particles"]; has != strings.HasPrefix(name, "ensemble") || has && n != 100 {
			t.Errorf("%s: %v particles", name, n)
		}
		decay, want := 1/(2*l.PriorVariance), 0.2
		switch name {
		case "ensemble", "ensemble+":
			want = 0.002
		case "epinet":
			want = 0.04
		}
		if c := l.Train; math.Abs(decay-want) > 1e-9 || c.Steps != 1 || c.Batch != 128 || c.Capacity != 50 ||
			features != 100 {
			t.Errorf("%s: decay %v, want %v; %+v", name, decay, want, c)
		}
		_, err := x.Spec([]string{name}, []string{"decay=0", "sgd-steps=0", "batch=0", "step-size=-1"}, x.Quick, 1)
		for _, key := range []string{"decay", "sgd-steps", "batch", "step-size"} {
			if err == nil || !strings.Contains(err.Error(), key+" must be") {
				t.Errorf("%s: no error names %s: %v", name, key, err)
			}
		}
	}
}
