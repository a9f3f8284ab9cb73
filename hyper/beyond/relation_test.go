package beyond_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// tried are four agents on a sweep and in a bandit. Regrets are the cube of the divergences at tau = 10, so that their
// logarithms have a correlation of 1; at tau = 1 agents have the same divergences but for the problem's number, in which
// half of them go one way and half the other.
func tried() (s testbed.Sweep, results []testbed.Result, h lab.Header, rows []lab.Row) {
	s = testbed.Classification().Few(1)
	for i, agent := range []string{"a", "b", "c", "d"} {
		h.Spec.Entries = append(h.Spec.Entries, lab.Entry{Agent: agent})
		level := 0.1 * float64(i+1)
		for j, p := range s.Problems {
			wave := math.Sin(float64(7*j + 3*i))
			results = append(results, testbed.Result{Agent: agent, Problem: p, Tau: 1, KL: lab.Float(0.2 + 0.1*wave)},
				testbed.Result{Agent: agent, Problem: p, Tau: 10, KL: lab.Float(level * (1 + 0.1*math.Sin(float64(j))))})
		}
		for run := range 10 {
			regret := math.Pow(level, 3) * (1 + 0.1*math.Cos(float64(run)))
			rows = append(rows, lab.Row{Entry: i, Run: run, Seed: uint64(run), Period: 100, Regret: lab.Float(regret)})
		}
	}
	return s, results, h, rows
}

func TestRelate(t *testing.T) {
	s, results, h, rows := tried()
	all, err := beyond.Relate(s, append(results, testbed.Result{Agent: "other", Tau: 10}), h, rows)
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	one, ten := all[0].Correlation, all[1].Correlation
	if all[1].Tau != 10 || strings.Join(all[1].Agents, "") != "abcd" || math.Abs(float64(ten.Value)-1) > 1e-9 ||
		math.Abs(float64(ten.Lower)-1) > 1e-9 || math.Abs(float64(ten.Upper)-1) > 1e-9 {
		t.Errorf("at tau = 10: %+v", all[1])
	}
	if !(one.Lower < 0 && 0 < one.Upper && one.Lower <= one.Value && one.Value <= one.Upper) {
		t.Errorf("at tau = 1: %+v", one)
	}
	for i, level := range []float64{0.1, 0.2, 0.3, 0.4} {
		if math.Abs(all[1].KL[i]/level-1) > 0.05 || math.Abs(all[1].Regret[i]/math.Pow(level, 3)-1) > 0.05 {
			t.Errorf("agent %d: divergence %v, regret %v", i, all[1].KL[i], all[1].Regret[i])
		}
	}
}

func TestRelateErrors(t *testing.T) {
	s, results, h, rows := tried()
	if _, err := beyond.Relate(s, results[:4*len(s.Problems)], h, rows); !errors.Is(err, beyond.ErrFewAgents) {
		t.Error(err)
	}
	diverged := append([]lab.Row{}, rows...)
	diverged[3].Diverged = 7
	if _, err := beyond.Relate(s, results, h, diverged); err == nil || !strings.Contains(err.Error(), "diverged") {
		t.Error(err)
	}
	if _, err := beyond.Relate(s, results, h, nil); !errors.Is(err, lab.ErrNoRows) {
		t.Error(err)
	}
	s.Problems = s.Problems[:0]
	if _, err := beyond.Relate(s, results, h, rows); err == nil || !strings.Contains(err.Error(), "no problem of") {
		t.Error(err)
	}
	h.Spec.Entries[1].Agent = "a"
	if _, err := beyond.Relate(s, results, h, rows); err == nil || !strings.Contains(err.Error(), "two entries of a") {
		t.Error(err)
	}
}
