package beyond_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// tried returns results of four agents on a sweep and in a bandit. Regrets are the cube of the divergences at tau = 10,
// so that their logarithms have correlation 1. At tau = 1 the divergences vary between problems, and their means are
// about equal for all agents.
func tried() (s testbed.Sweep, results []testbed.Result, h lab.Header, rows []lab.Row) {
	s = testbed.Classification().Few(1)
	x := beyond.TestbedBandit
	for i, agent := range []string{"mlp", "dropout", "ensemble", "epinet"} {
		setting := must.M1(x.New(agent))
		h.Spec.Entries = append(h.Spec.Entries, lab.Entry{Agent: agent, Setting: setting})
		h.Spec.Periods = 100
		level := 0.1 * float64(i+1)
		for j, p := range s.Problems {
			wave := math.Sin(float64(7*j + 3*i))
			results = append(results, testbed.Result{Agent: agent, Problem: p, Tau: 1, KL: stats.Float(0.2 + 0.1*wave)},
				testbed.Result{Agent: agent, Problem: p, Tau: 10, KL: stats.Float(level * (1 + 0.1*math.Sin(float64(j))))})
		}
		for run := range 10 {
			regret := math.Pow(level, 3) * (1 + 0.1*math.Cos(float64(run)))
			for _, period := range []int{10, 33, 100} { // half of the regret occurs after the first third
				row := lab.Row{Entry: i, Run: run, Seed: uint64(run), Period: period, Regret: stats.Float(regret)}
				if period < 100 {
					row.Regret /= 2
				}
				rows = append(rows, row)
			}
		}
	}
	return s, results, h, rows
}

func TestRelate(t *testing.T) {
	s, results, h, rows := tried()
	r, err := beyond.Relate(s, append(results, testbed.Result{Agent: "other", Tau: 10}), h, rows)
	if err != nil || len(r.Agents) != 4 || fmt.Sprint(r.Taus, r.Periods) != "[1 10] [10 33 100]" || r.Problems != 36 ||
		r.Runs != 10 {
		t.Fatalf("%+v, %v", r, err)
	}
	one, ten := r.Correlations[0], r.Correlations[1]
	if math.Abs(float64(ten.Value)-1) > 1e-9 || math.Abs(float64(ten.Lower)-1) > 1e-9 ||
		math.Abs(float64(ten.Upper)-1) > 1e-9 {
		t.Errorf("at tau = 10: %v", ten)
	}
	if !(one.Lower < 0 && 0 < one.Upper && one.Lower <= one.Value && one.Value <= one.Upper) {
		t.Errorf("at tau = 1: %v", one)
	}
	for i, a := range r.Agents {
		level := 0.1 * float64(i+1)
		kl, regret := float64(a.KL[1].Value), float64(a.Regret[2].Value)
		if math.Abs(kl/level-1) > 0.05 || math.Abs(regret/math.Pow(level, 3)-1) > 0.05 ||
			math.Abs(float64(a.Regret[0].Value)/regret-0.5) > 0.01 || a.Computation <= 0 {
			t.Errorf("%s: %+v", a.Name, a)
		}
	}
}

// The taus are those that all agents have results of, and not only those that a sweep has by default.
func TestRelateTaus(t *testing.T) {
	s, results, h, rows := tried()
	for i := range results {
		if results[i].Tau == 10 {
			results[i].Tau = 100
		}
	}
	results = append(results, testbed.Result{Agent: "mlp", Problem: s.Problems[0], Tau: 10, KL: 1})
	if r, err := beyond.Relate(s, results, h, rows); err != nil || fmt.Sprint(r.Taus, r.Problems) != "[1 100] 36" ||
		math.Abs(float64(r.Correlations[1].Value)-1) > 1e-9 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRelateErrors(t *testing.T) {
	s, results, h, rows := tried()
	if _, err := beyond.Relate(s, results[:4*len(s.Problems)], h, rows); err == nil ||
		!strings.Contains(err.Error(), "a correlation needs three agents") {
		t.Error(err)
	}
	if _, err := beyond.Relate(s, results, h, nil); !errors.Is(err, analysis.ErrNoRows) {
		t.Error(err)
	}
	apart := slices.Clone(results) // each agent with a tau of its own
	for i := range apart {
		apart[i].Tau = i / len(s.Problems)
	}
	if _, err := beyond.Relate(s, apart, h, rows); err == nil || !strings.Contains(err.Error(), "no problem of") {
		t.Error(err)
	}
	s.Problems = s.Problems[:0]
	if _, err := beyond.Relate(s, results, h, rows); err == nil || !strings.Contains(err.Error(), "no problem of") {
		t.Error(err)
	}
	s, _, _, _ = tried()
	h.Spec.Entries[1].Agent = "mlp"
	if _, err := beyond.Relate(s, results, h, rows); err == nil || !strings.Contains(err.Error(), "two entries of mlp") {
		t.Error(err)
	}
}
