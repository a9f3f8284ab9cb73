package paper_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// performing returns a simulator with artificial regrets. from has the number of the first setting of each agent,
// counted over the calls, whose regret is half the target. The regret of earlier settings is twice the target.
func performing(from map[string]int) study.Simulator {
	calls := map[string]int{}
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		spec, err := paper.Frontier.Spec(agents, sets, size, 0)
		if err != nil {
			return lab.Header{}, nil, fmt.Errorf("the claim's settings: %w", err)
		}
		factor := 2.0
		if calls[agents[0]] >= from[agents[0]] {
			factor = 0.5
		}
		calls[agents[0]]++
		arms := catalog.Values(spec.Entries[0].Setting)["arms"].(int)
		target := 0.01 * math.Sqrt(float64(arms)) * float64(size.Periods) // section 4.1
		var rows []lab.Row
		for run := range size.Runs {
			rows = append(rows, lab.Row{Run: run, Seed: uint64(run), Period: size.Periods,
				Regret: stats.Float(factor * target * (1 + 0.01*float64(run%7)))})
		}
		return lab.Header{Spec: spec}, rows, nil
	}
}

// Each claim about the frontier compares the least computation of settings that perform well, and reports if no setting
// does. The claims about exact Thompson sampling compare its regret to the target.
func TestFrontierClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("tests every claim with artificial results")
	}
	for _, c := range paper.Claims[paper.Frontier.Name] {
		if strings.HasPrefix(c.Name, "exact") {
			for from, want := range []study.Verdict{study.Reproduced, study.Refuted} {
				if f, err := c.Test(performing(map[string]int{"exact": from}), c.Quick); err != nil ||
					f.Verdict != want {
					t.Errorf("%s: %v (error %v), want %s", c.Name, f, err, want)
				}
			}
			continue
		}
		f, err := c.Test(performing(map[string]int{"linear": 0, "ensemble": 0}), c.Quick)
		if err != nil {
			t.Fatalf("claim %s: got error %v, want none", c.Name, err)
		}
		if f.Estimate.Value != f.Estimate.Lower || f.Estimate.Value != f.Estimate.Upper || f.Runs != 20 {
			t.Errorf("%s: %v, want a ratio without doubt: all resamples agree", c.Name, f)
		}
		dear, err := c.Test(performing(map[string]int{"linear": 1, "ensemble": 0}), c.Quick)
		if err != nil || dear.Estimate.Value <= f.Estimate.Value {
			t.Errorf("%s: %v (error %v) without the cheapest linear setting, want more than %v",
				c.Name, dear, err, f.Estimate)
		}
		if _, err := c.Test(performing(map[string]int{"linear": 0, "ensemble": 99}), c.Quick); !errors.Is(err,
			analysis.ErrNoneBelow) {
			t.Errorf("%s: error %v when no ensemble performs well, want ErrNoneBelow", c.Name, err)
		}
		var none study.NonePassesError
		if _, err := c.Test(performing(map[string]int{"linear": 99, "ensemble": 99}), c.Quick); !errors.As(err, &none) ||
			!slices.Equal(none.Agents, []string{"linear", "ensemble"}) {
			t.Errorf("%s: error %v when nothing performs well, want one of both agents", c.Name, err)
		}
	}
}

// The searched settings are valid, and are ordered by computation.
func TestFrontierSettings(t *testing.T) {
	for _, agent := range []string{"linear", "ensemble"} {
		for _, integrate := range []string{"sampled", "analytic", "full-data"} {
			for _, arms := range []int{10, 30, 100, 300, 1000} {
				before := 0.0
				for _, sets := range paper.FrontierSettings(agent, integrate, arms) {
					spec, err := paper.Frontier.Spec([]string{agent}, sets, lab.Size{Periods: 10_000, Runs: 1}, 0)
					if err != nil || spec.Validate() != nil {
						t.Fatalf("%s %v: got errors %v and %v, want none", agent, sets, err, spec.Validate())
					}
					_, a := spec.Entries[0].Setting.Build(10_000)
					if c := a.Computation(); c < before || c == 0 {
						t.Errorf("%s %v: computation %v follows %v, want a growing order", agent, sets, c, before)
					} else {
						before = c
					}
				}
			}
		}
	}
	if _, err := paper.LeastOf(performing(nil), paper.PerformsWell, "linear", 7); err == nil ||
		!strings.Contains(err.Error(), "no search has found settings") {
		t.Errorf("with 7 arms: error %v, want one that says that there is no search", err)
	}
}

// FrontierOf finds the least computations in artificial regrets, their ratio, and the cases in which no setting
// performs well. A point is left out if the study lacks one of its settings.
func TestFrontierOf(t *testing.T) {
	var h lab.Header
	var rows []lab.Row
	for _, c := range []struct {
		agent               string
		arms, from, without int
	}{{"linear", 30, 0, 1}, {"ensemble", 30, 99, 0}, {"ensemble", 10, 2, 0}, {"linear", 10, 1, 0}} {
		simulate := performing(map[string]int{c.agent: c.from})
		for _, sets := range paper.FrontierSettings(c.agent, "sampled", c.arms)[c.without:] {
			one, more := must.M2(simulate([]string{c.agent}, sets, paper.Frontier.Full))
			for _, r := range more {
				r.Entry = len(h.Spec.Entries)
				rows = append(rows, r)
			}
			one.Spec.Entries = append(h.Spec.Entries, one.Spec.Entries...)
			h = one
		}
	}
	points, err := paper.FrontierOf(h, rows)
	if err != nil || len(points) != 3 {
		t.Fatalf("%v (error %v), want points of both agents with 10 arms, and the point of ensembles with 30",
			points, err)
	}
	if slices.ContainsFunc(points, func(p paper.FrontierPoint) bool { return p.Bound != paper.PerformsWell }) {
		t.Errorf("got points %v, want none without exact Thompson sampling in the study", points)
	}
	linear, ensemble, none := points[0], points[1], points[2]
	for i, p := range []paper.FrontierPoint{linear, ensemble} {
		least := paper.FrontierSettings(paper.Frontier.Order[i], "sampled", 10)[i+1]
		if p.Agent != paper.Frontier.Order[i] || p.Arms != 10 || p.Runs != 100 || !slices.Equal(p.Setting, least) ||
			!strings.HasSuffix(strings.Join(least, " "), " "+p.Found()) {
			t.Errorf("%+v, want %s with 10 arms and %v", p, paper.Frontier.Order[i], least)
		}
	}
	want := ensemble.Computation.Value / linear.Computation.Value
	if ensemble.Ratio != (stats.Estimate{Value: want, Lower: want, Upper: want}) ||
		!math.IsNaN(float64(linear.Ratio.Value)) {
		t.Errorf("ratios %v and %v, want %v without doubt for the ensemble alone", ensemble.Ratio, linear.Ratio, want)
	}
	if none.Agent != "ensemble" || none.Arms != 30 || none.Setting != nil || none.Found() != "" ||
		!math.IsNaN(float64(none.Computation.Value)) || none.Runs != 100 {
		t.Errorf("%+v, want an ensemble for 30 arms without a setting that performs well", none)
	}
}

// The second bound is twice the regret of exact Thompson sampling. Settings with 1.1 times that regret are below the
// bound, and settings with more than twice are not, whatever the paper's bound is.
func TestTwiceExact(t *testing.T) {
	for factor, want := range map[stats.Float]error{1.1: nil, 2.2: analysis.ErrNoneBelow} {
		simulate := func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
			h, rows, err := performing(map[string]int{"exact": 99})(agents, sets, size) // slightly more than twice the target
			for i := range rows {
				if agents[0] != "exact" {
					rows[i].Regret *= 4 * factor
				}
			}
			return h, rows, err
		}
		least, err := paper.LeastOf(simulate, paper.TwiceExact, "linear", 10)
		if !errors.Is(err, want) || err == nil && least.Entry != 0 {
			t.Errorf("settings with %v times the regret of exact Thompson sampling: got %v, error %v",
				factor, least, err)
		}
		if _, err := paper.LeastOf(simulate, paper.PerformsWell, "linear", 10); !errors.Is(err, analysis.ErrNoneBelow) {
			t.Errorf("the paper's target: got error %v, want ErrNoneBelow", err)
		}
	}
}

// FrontierLimits returns the study's exact Thompson sampling, the target, and the bound for every agent. Numbers of
// arms that the study lacks are left out.
func TestFrontierLimits(t *testing.T) {
	h, rows := must.M2(performing(nil)([]string{"exact"}, []string{"arms=300"}, paper.Frontier.Full))
	limits, err := paper.FrontierLimits(h, rows)
	if err != nil || len(limits) != 1 {
		t.Fatalf("got limits %v, error %v, want one", limits, err)
	}
	l := limits[0]
	if target := 0.01 * math.Sqrt(300); l.Arms != 300 || math.Abs(l.Target-target) > 1e-12 || l.Runs != 100 ||
		!(l.Exact.Value > 0.5*stats.Float(target) && l.Exact.Upper < 0.6*stats.Float(target)) {
		t.Errorf("got limits %+v, want those of 300 arms", l)
	}
	if l.Least < 0.11 || l.Least > 0.12 { // 255 of the arms are tried on average; each costs 1.5 E[M_300] = 4.3
		t.Errorf("got least regret %v, want 0.11 to 0.12", l.Least)
	}
}
