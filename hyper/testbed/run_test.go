package testbed

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// few returns n problems of one shape, with three temperatures.
func few(n, data int) Sweep {
	s := Sweep{Name: "few", Seeds: 1, Anchors: 2}
	for i := range n {
		s.Problems = append(s.Problems, Problem{Number: i, Inputs: 2, Data: data, Temperature: temperatures[i%3],
			Seed: uint64(i) + 1})
	}
	return s
}

// divergences returns an agent's divergences by tau and problem number.
func divergences(t *testing.T, a Agent, s Sweep, o Options) map[int]map[int]float64 {
	t.Helper()
	out := map[int]map[int]float64{}
	must.M(Try(context.Background(), a, s, o, func(results []Result) error {
		for _, r := range results {
			if out[r.Tau] == nil {
				out[r.Tau] = map[int]float64{}
			}
			out[r.Tau][r.Number] = float64(r.KL)
		}
		return nil
	}))
	return out
}

// untrained returns the agent mlp, or an ensemble, that always predicts one half.
func untrained(particles int) Agent {
	a := Ensemble(Classes, particles)
	usual := a.Learner
	a.Learner = func(inputs, data int) learner.Learner {
		l := usual(inputs, data)
		m := l.Belief.(hyper.Model)
		h := m.Hyper.(hyper.Ensemble)
		h.InitNu = hyper.InitZeros
		m.Hyper = h
		l.Belief, l.StepSize, l.Train.Steps = m, 1e-30, 1
		return l
	}
	a.Steps = steps(1)
	return a
}

// An ensemble that predicts one half everywhere has the divergence of the uniform agent, which depends on the truth
// alone. A hundred classes are predicted by projection.
func TestUntrainedAgents(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		s, o := few(4, 3), Options{Batches: 50, Side: 4, Taus: []int{10}, Backend: name}
		if name == backend.Go { // XLA takes seconds to compile a hundred classes
			o.Taus = append(o.Taus, 100)
		}
		got := divergences(t, untrained(7), s, o)
		for _, tau := range o.Taus {
			for i, want := range uniformOf(t, name, s, tau, o.Batches) {
				if g := got[tau][i]; !(math.Abs(g-want) <= 1e-4*max(1, want)) {
					t.Errorf("tau %d, problem %d: %v, want %v", tau, i, g, want)
				}
			}
		}
	})
}

// uniformOf returns the divergences of the uniform agent on the same tests.
func uniformOf(t *testing.T, name string, s Sweep, tau, batches int) []float64 {
	t.Helper()
	seeds, rho := make([]uint64, len(s.Problems)), make([]float32, len(s.Problems))
	for i, p := range s.Problems {
		seeds[i], rho[i] = p.Seed, float32(p.Temperature)
	}
	e := networkTruth{Inputs: s.Problems[0].Inputs}
	return eval(t, name, func(in []*Node) []*Node {
		problem := problemStream(in[0])
		d := s.tests(tau, batches).Draw(problem.Named("tests").Step(tau), e, e.Init(problem.Named("truth")), in[1])
		mean, _ := d.Divergence(d.Uniform())
		return []*Node{mean}
	}, seeds, rho)[0]
}

// A problem's result does not depend on the problems beside it, nor on the chunks of indices, up to rounding. The test
// covers indices that are listed, indices from a Gaussian, and masks.
func TestResultsAreOfTheProblemAlone(t *testing.T) {
	s := few(2, 5)
	agents := []Agent{EnsemblePlus(Classes, 4), Hypermodel(Classes), Dropout(Classes)}
	if testing.Short() {
		agents = agents[:1]
	}
	for _, a := range agents {
		a = short(a, 9, 3)
		o := Options{Backend: backend.Go, Batches: 2, Side: 3} // on this backend nothing has to be compiled
		together := divergences(t, a, s, o)
		o.Side = 1
		alone := divergences(t, a, s, o)
		for _, tau := range defaultTaus {
			for i := range s.Problems {
				if x, y := together[tau][i], alone[tau][i]; !(math.Abs(x-y) < 0.02*(1+y)) {
					t.Errorf("%s, tau %d, problem %d: got %v next to others, %v alone", a.Name, tau, i, x, y)
				}
			}
		}
	}
}

// With a thousand data and much noise a network is near the truth, far nearer than the uniform agent. The decay of
// weights equals the testbed's, sqrt(rho) D/T sum theta^2 added to a mean loss.
func TestAgentsLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains networks; TestRegressionIsLearned trains a smaller model")
	}
	s := few(3, 1000)
	for i := range s.Problems {
		s.Problems[i].Temperature = 0.1
	}
	o := Options{Batches: 200, Side: 3, Taus: []int{1}}
	uniform := s.score(divergences(t, untrained(1), s, o)[1]).Mean()
	settings := []byte(`{"particles":1,"hidden":"20","step-size":0.003}`)
	catalogue := must.M1(FromCatalog(s, "catalogue", "ensemble", settings, 500))
	for _, a := range []Agent{MLP(Classes), catalogue} {
		if kl := s.score(divergences(t, a, s, o)[1]).Mean(); kl > uniform/4 {
			t.Errorf("the divergence of %s is %v, want far less than the uniform agent's %v", a.Name, kl, uniform)
		}
	}
	p := s.Problems[0]
	variance := MLP(Classes).Numbers(p)["PriorVariance"]
	want := math.Sqrt(p.Temperature) * float64(p.Inputs) / float64(p.Data)
	if got := 1 / (2 * variance * float64(p.Data)); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("weights decay by %v, want %v", got, want)
	}
}

func TestLeaderboard(t *testing.T) {
	s := few(4, 3)
	var results []Result
	for i, p := range s.Problems {
		for _, tau := range defaultTaus {
			base := float64(1 + i)
			for agent, kl := range map[string]float64{"mlp": base, "half": base / 2, "broken": math.NaN()} {
				results = append(results, Result{Agent: agent, Problem: p, Tau: tau, KL: stats.Float(kl)})
			}
		}
	}
	results = append(results, Result{Agent: "alone", Problem: Problem{Number: 9}, Tau: 1})
	lines := Leaderboard(s, results, "mlp")
	if len(lines) != 6 || lines[0].Agent != "half" || lines[0].Ratio.Value != 0.5 || lines[0].Problems != 4 ||
		lines[0].Mean != 1.25 || lines[5].Agent != "broken" || lines[5].Mean != missingScore {
		t.Errorf("got leaderboard %+v, want half first and broken last", lines)
	}
	if lines := Leaderboard(s, results, "nobody"); len(lines) != 0 {
		t.Errorf("leaderboard without a baseline: got %+v, want none", lines)
	}
}

func TestFaultsOfAgents(t *testing.T) {
	for _, s := range []Sweep{Classification2D(), Classification()} {
		for _, a := range Agents(s) {
			if err := a.Validate(10, 100); err != nil {
				t.Error(err)
			}
		}
	}
	bad := MLP(Classes)
	bad.Numbers = func(Problem) map[string]float64 { return map[string]float64{"Speed": 1} }
	for want, try := range map[string]func() error{
		"it needs a Name":   func() error { return Try(t.Context(), Agent{Name: "x"}, few(1, 3), Options{}, nil) },
		"Numbers has Speed": func() error { return Try(t.Context(), bad, few(1, 3), Options{}, nil) },
		"one response at a time: tau must be 1, got 10": func() error {
			return Try(t.Context(), MLP(Classes), ennPaper(), Options{Taus: []int{1, 10}}, nil)
		},
	} {
		if err := try(); err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// An agent of the catalogue makes exactly the steps that are asked for, in calls of at most 50. Multiples of 50 keep
// their results: the agent is made as before.
func TestStepsOfFromCatalog(t *testing.T) {
	for n, perCall := range map[int]int{1: 1, 7: 7, 50: 50, 53: 1, 120: 40, 1000: 50, 10_000: 50} {
		a := must.M1(FromCatalog(few(1, 3), "x", "ensemble", []byte(`{"particles":5,"hidden":"20"}`), n))
		if got := a.learner(2, 3).Train.Steps; got != perCall || a.Steps(2, 3) != n || n%perCall != 0 {
			t.Errorf("%d steps: got calls of %d and %d steps, want calls of %d", n, got, a.Steps(2, 3), perCall)
		}
		if n == 1000 && a.Made != "8a037cae79df21a5" {
			t.Errorf("a thousand steps: got an agent made as %s, which does not continue earlier results", a.Made)
		}
	}
}

// A worker does the jobs that it reads, with the same results as Try, and reports an error for an impossible job.
func TestWorker(t *testing.T) {
	s := few(4, 3)
	s.Problems = append(s.Problems, few(5, 2).Problems...)
	for i := range s.Problems {
		s.Problems[i].Number = i
	}
	o := Options{Backend: backend.Go, Batches: 5, Side: 2, Taus: []int{10}}
	want := divergences(t, short(MLP(Classes), 1, 20), s, o)[10]
	text := must.M1(told(t, "2\n0\n", 2, s, o, "0/1"))
	var got []int
	for line := range strings.Lines(text) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Error != "" {
			t.Fatalf("line %s: got error %v, want none", line, err)
		}
		for _, r := range m.Results {
			got = append(got, r.Number)
			if float64(r.KL) != want[r.Number] {
				t.Errorf("problem %d: got %v, and %v by Try", r.Number, r.KL, want[r.Number])
			}
		}
	}
	if fmt.Sprint(got) != "[4 0 1]" { // the first problem of the second shape; its five problems make three jobs
		t.Errorf("got problems %v, want [4 0 1]", got)
	}
	for job, share := range map[string]string{"9\n": "0/1", "0\n": "none"} {
		if text, err := told(t, job, 1, s, o, share); err == nil || !strings.Contains(text, `"error":`) {
			t.Errorf("job %q, share %s: got error %v and %s, want an error", job, share, err, text)
		}
	}
}

// told returns the first lines that a worker writes for some jobs, and the worker's error.
func told(t *testing.T, jobs string, lines int, s Sweep, o Options, share string) (string, error) {
	in, parent := io.Pipe()
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Worker(t.Context(), in, out, short(MLP(Classes), 1, 20), s, o, share)
		_ = out.Close()
	}()
	go func() { _, _ = io.WriteString(parent, jobs) }()
	var text strings.Builder
	for all := bufio.NewScanner(said); lines > 0 && all.Scan(); lines-- {
		text.WriteString(all.Text() + "\n")
	}
	_ = parent.Close()
	return text.String(), <-ended
}

// With projection, the prediction of ten classes is near the mean over functions: divergences are within a quarter, as
// the testbed allows for log-likelihoods. The test covers functions that are listed, with independent and with dyadic
// inputs, and functions that are drawn, with dyadic inputs. XLA, which takes seconds to compile a case, has one.
func TestProjectedExam(t *testing.T) {
	s := few(2, 5)
	agents := []Agent{untrained(5), short(Ensemble(Classes, 6), 1, 20), short(Hypermodel(Classes), 1, 20)}
	if testing.Short() { // functions that are drawn take some ten seconds
		agents = agents[:2]
	}
	for _, a := range agents {
		for _, anchors := range []int{0, 2} {
			if anchors == 0 && a.Name == Hypermodel(Classes).Name {
				continue // takes seconds
			}
			testbackend.ForEach(t, func(t *testing.T, name string) {
				if name != backend.Go && a.Name != Hypermodel(Classes).Name {
					return
				}
				tests := testInputs{Batches: 6, Tau: 10, Anchors: anchors}
				tr := newTrial(must.M1(backend.Open(name)), a, Classes, 2, 5, []testInputs{tests, tests})
				args := tr.args(s.Problems)
				state := must.M1(tr.learn(t.Context(), args))
				kl := map[bool][]float32{}
				for i, projected := range []bool{false, true} {
					tr.tests[i].projected = projected
					kl[projected] = must.M1(tr.tests[i].run(t.Context(), args, state))[klName]
				}
				for i, want := range kl[false] {
					if got := kl[true][i]; math.Abs(float64(got/want-1)) > 0.25 {
						t.Errorf("%s, %d anchors, problem %d: got %v by projection, %v by the mean",
							a.Name, anchors, i, got, want)
					}
				}
			})
		}
	}
}

// short returns an agent that makes some SGD steps in all, and some in each call.
func short(a Agent, all, each int) Agent {
	usual := a.Learner
	a.Learner = func(inputs, data int) learner.Learner {
		l := usual(inputs, data)
		l.Train.Steps = each
		return l
	}
	a.Steps = steps(all)
	return a
}
