package agent

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

var (
	policyRows = flag.String("policies.rows", "", "folder of CSV files, such as those of sets.py")
	policyOut  = flag.String("policies.out", "", "file for what policies do on them, JSON")
)

// halves decides by one policy or the other, each with probability 1/2, in plain Go.
type halves struct{ one, other explore.Hosted }

func (h halves) Samples() int { return h.one.Samples() }

func (halves) Decide(*Node, explore.Moment) (probabilities, action *Node) {
	panic("halves decides in plain Go alone")
}

func (h halves) DecideOnHost(values []float32, actions int, s rng.Host, period int32) ([]float32, int) {
	p, action := h.one.DecideOnHost(values, actions, s.Named("one"), period)
	q, second := h.other.DecideOnHost(values, actions, s.Named("other"), period)
	var word [1]uint32
	if s.Named("half").Bits(word[:]); word[0]&1 == 1 {
		action = second
	}
	p = slices.Clone(p)
	for i := range p {
		p[i] = (p[i] + q[i]) / 2
	}
	return p, action
}

// policies has the policies that were compared, with their floors.
var policies = []struct {
	name   string
	policy explore.Policy
	floor  float64
}{
	{"ucb", explore.UCB{Quantile: 0.84}, 0.01}, {"ids", explore.IDS{}, 0.01}, {"thompson", explore.Thompson{N: 100}, 0.01},
	{"ucb and thompson", halves{explore.UCB{Quantile: 0.84}, explore.Thompson{N: 100}}, 0.01},
	{"ucb", explore.UCB{Quantile: 0.84}, 0.02}, {"ucb", explore.UCB{Quantile: 0.84}, 0.05},
}

// judged has the mistakes of a policy on rows, and the precision of estimates from its log.
type judged struct {
	Mistakes int
	Half     []float64 // half width of the interval for each target
}

// judge lets a policy classify rows, and measures how precisely its log says what three targets would have done in the
// second half of the rows: a line, cosines, and a line by SGD. The targets have learned from the rewards of the first
// half, and take their best action except for a floor of 0.01.
func judge(t *testing.T, policy explore.Policy, floor float64, x [][]float32, class, rows []int) (out judged) {
	t.Helper()
	k, d, ctx := slices.Max(class)+1, len(x[0]), t.Context()
	c := Config{Floor: floor, Learner: learner.Learner{Policy: policy}}
	a := must.M1(New(c.Contextual(k, d)))
	defer a.Close()
	var targets []*Agent
	for _, of := range []string{"line", "cosines"} {
		b := must.M1(New(lineAgents[of](Config{}, k, d)))
		defer b.Close()
		targets = append(targets, b)
	}
	sgd := make([][]float64, k)
	for i := range sgd {
		sgd[i] = make([]float64, d+1)
	}
	sums := make([]float64, 3)
	half := len(rows) / 2
	out.Half = make([]float64, 3)
	type seen struct {
		logged []float32
		class  int
		best   [3]int
	}
	var later []seen
	for i, row := range rows {
		m := Menu{Context: x[row]}
		decision := must.M1(a.Decide(ctx, m))
		y := float32(0)
		if decision.Action == class[row] {
			y = 1
		} else {
			out.Mistakes++
		}
		must.M(a.Observe(ctx, Feedback{ID: decision.ID, Reward: y}))
		inputs := must.M1(a.Inputs(m))
		at := make([]float64, d+1)
		at[d] = 1
		norm2 := 1.0
		for j, v := range inputs[0][1:] {
			at[j] = float64(v)
			norm2 += at[j] * at[j]
		}
		if i < half {
			for _, b := range targets {
				must.M(b.Told(inputs[decision.Action], y))
			}
			theta := sgd[decision.Action]
			off := float64(y) - dotOf(theta, at)
			for j, v := range at {
				theta[j] += 0.05 * off * v / (1 + 0.05*norm2)
			}
			continue
		}
		s := seen{logged: decision.Probabilities, class: class[row]}
		for j, b := range targets {
			s.best[j] = bestMean(must.M1(b.Sample(inputs, 30)))
		}
		for arm := range sgd {
			if dotOf(sgd[arm], at) > dotOf(sgd[s.best[2]], at) {
				s.best[2] = arm
			}
		}
		for j, best := range s.best {
			sums[j] += targetOf(best, s.class, k)
		}
		later = append(later, s)
	}
	for j := range out.Half {
		value, variance := sums[j]/float64(len(later)), 0.0
		for _, s := range later {
			for arm, q := range s.logged {
				r := -value
				if arm == s.class {
					r++
				}
				p := targetOf(s.best[j], arm, k)
				variance += p * p / float64(q) * r * r
			}
		}
		out.Half[j] = 1.96 * math.Sqrt(variance) / float64(len(later))
	}
	return out
}

// targetOf returns the probability that a target with a known best arm takes an arm.
func targetOf(best, arm, k int) float64 {
	p := 0.01 / float64(k)
	if arm == best {
		p += 0.99
	}
	return p
}

func dotOf(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func bestMean(functions [][]float32) (best int) {
	means := make([]float64, len(functions[0]))
	for _, f := range functions {
		for i, v := range f {
			means[i] += float64(v)
		}
	}
	for i, m := range means {
		if m > means[best] {
			best = i
		}
	}
	return best
}

// With a higher floor the log of an agent says more about other agents: intervals by SNIPS are narrower. Their half
// widths are exact, because the rewards of all arms are known. With policies.rows all policies classify data sets.
func TestFloorsAndLogs(t *testing.T) {
	NotInShort(t)
	if *policyRows != "" {
		policiesOfSets(t)
		return
	}
	x, class := contexts(must.M1(sheet.Set("phishing")))
	rows := hashed(len(x), 0)[:600]
	low := judge(t, explore.UCB{Quantile: 0.84}, 0.01, x, class, rows)
	high := judge(t, explore.UCB{Quantile: 0.84}, 0.1, x, class, rows)
	t.Logf("floor 0.01: %+v, 0.1: %+v", low, high)
	for j := range low.Half {
		if high.Half[j] > 0.7*low.Half[j] {
			t.Errorf("target %d: half width %v with the low floor and %v with the high one, want at most 0.7 times",
				j, low.Half[j], high.Half[j])
		}
	}
}

// policiesOfSets writes the results of all policies on data sets of at least 400 rows, in three orders.
func policiesOfSets(t *testing.T) {
	out := map[string]map[string][]judged{}
	for _, path := range must.M1(filepath.Glob(filepath.Join(*policyRows, "*.csv"))) {
		x, class := contexts(must.M1(sheet.Read(path)))
		if len(x) < 400 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		out[name] = map[string][]judged{}
		for _, p := range policies {
			key := p.name + " " + string(must.M1(json.Marshal(p.floor)))
			for order := range 3 {
				out[name][key] = append(out[name][key], judge(t, p.policy, p.floor, x, class, hashed(len(x), order)))
			}
			t.Log(name, key, out[name][key])
		}
		must.M(os.WriteFile(*policyOut, append(must.M1(json.Marshal(out)), '\n'), 0o644))
	}
}
