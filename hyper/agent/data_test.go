package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// responses returns the responses that an agent keeps, in the order of Data, and checks that the numbers of each input
// are equal, as teach makes them.
func responses(t *testing.T, a *agent.Agent) []int {
	t.Helper()
	var ys []int
	for _, d := range must.M1(a.Data()) {
		for _, x := range d.X {
			if len(d.X) == 2 && x != d.Y || len(d.X) == 1 && x != float32(int(d.Y)%3) {
				t.Errorf("datum %v: want an input that encodes the response", d)
			}
		}
		ys = append(ys, int(d.Y))
	}
	return ys
}

// teach adds data with y = from..to-1; the inputs encode y.
func teach(a *agent.Agent, features, from, to int) {
	for i := from; i < to; i++ {
		y := float32(i)
		x := []float32{float32(i % 3)}
		if features > 0 {
			x = []float32{y, y}
		}
		must.M(a.Add(x, y))
	}
}

func upTo(from, to int) (all []int) {
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}

// models has a model of arms, and a model of actions with features, by the number of features.
var models = map[int]hyper.Model{0: armsModel(3, 2), 2: lineModel(2, 3)}

// An agent never stops learning, and returns the data that it keeps. This holds for tabular and other models, and after
// loading a file with an equal or a larger capacity.
func TestDataKept(t *testing.T) {
	for features, belief := range models {
		name := fmt.Sprintf("%d features", features)
		testbackend.ForEach(t, func(t *testing.T, on string) {
			for _, replay := range []agent.Replay{agent.Window, agent.Reservoir, agent.Growth} {
				if on != backend.Go && (features == 0 || replay != agent.Window) { // once is enough of what is compiled
					continue
				}
				c := agent.Config{Learner: learner.Learner{
					Belief: belief, Train: train.Config{Capacity: 7, Integrate: train.Sampled},
				}, Features: features, Backend: on, Replay: replay}
				a := must.M1(agent.New(c))
				teach(a, features, 0, 5)
				if got := responses(t, a); !slices.Equal(got, upTo(0, 5)) {
					t.Errorf("%s, %s: got data %v, want 0 to 4", name, replay, got)
				}
				early, late := filepath.Join(t.TempDir(), "early"), filepath.Join(t.TempDir(), "late")
				must.M(a.Save(early))
				teach(a, features, 5, 17)
				must.M(a.Save(late))
				got := responses(t, a)
				if slices.Sort(got); a.Size() != 17 || len(got) != 7 || replay == agent.Window && !slices.Equal(got, upTo(10, 17)) {
					t.Errorf("%s, %s: of %d data the agent keeps %v, want 7, of a window the last 7",
						name, replay, a.Size(), got)
				}

				c.Learner.Train.Capacity = 12
				b := must.M1(agent.Load(c, early))
				teach(b, features, 5, 12)
				if got := responses(t, b); !slices.Equal(got, upTo(0, 12)) {
					t.Errorf("%s, %s: with a larger capacity got data %v, want 0 to 11", name, replay, got)
				}
				b = must.M1(agent.Load(c, late))
				teach(b, features, 17, 19)
				if got := responses(t, b); replay == agent.Window && !slices.Equal(got, upTo(10, 19)) ||
					replay != agent.Window && len(got) != 7 {
					t.Errorf("%s, %s: larger capacity after a full buffer: got data %v", name, replay, got)
				}
				must.M(b.Told(must.M1(b.Data())[0].X, 0.5))

				c.Learner.Train.Capacity = 4
				if _, err := agent.Load(c, early); err == nil || !strings.Contains(err.Error(), "Train.Capacity") {
					t.Errorf("%s, %s: with a smaller capacity got error %v, want one about Train.Capacity",
						name, replay, err)
				}
			}
		})
	}
}

// Growth begins with 1,024 rows, and learns the same as if it had had all rows from the beginning.
func TestGrowth(t *testing.T) {
	agent.NotInShort(t)
	c := agent.Config{Learner: learner.Learner{
		Belief: armsModel(3, 2), StepSize: 0.01,
		Train: train.Config{Integrate: train.Sampled, Steps: 1, Batch: 2, Indices: 2},
	}, Backend: backend.Go}
	growing := must.M1(agent.New(c))
	c.Replay, c.Learner.Train.Capacity = agent.Window, 1200
	whole := must.M1(agent.New(c))
	for _, a := range []*agent.Agent{growing, whole} {
		teach(a, 0, 0, 1100)
		must.M(a.Learn(context.Background(), 3))
	}
	if got := responses(t, growing); !slices.Equal(got, upTo(0, 1100)) {
		t.Errorf("got %d data, want 1100 in their order", len(got))
	}
	x, y := must.M1(growing.Sample(nil, 2)), must.M1(whole.Sample(nil, 2))
	for i := range x {
		if !slices.Equal(x[i], y[i]) {
			t.Errorf("got functions %v with a growing buffer, %v with a large one, want equal functions", x, y)
		}
	}
	for _, replay := range []agent.Replay{agent.Window, agent.Reservoir} {
		_, err := agent.New(agent.Config{Learner: learner.Learner{
			Belief: c.Learner.Belief, Train: train.Config{Integrate: train.Sampled},
		}, Replay: replay})
		if err == nil || !strings.Contains(err.Error(), "apacity") {
			t.Errorf("%s without a capacity: got error %v, want one about the capacity", replay, err)
		}
	}
	if _, err := agent.New(agent.Config{Learner: learner.Learner{
		Belief: c.Learner.Belief,
	}, Replay: 4}); err == nil || !strings.Contains(err.Error(), "Replay: unknown 4; choose growth, reservoir or window") {
		t.Errorf("got error %v, want one that lists the choices of Replay", err)
	}
}

// An agent that keeps sums has no bound and no data, and its state has the same size for any capacity.
func TestSums(t *testing.T) {
	for features, belief := range models {
		var sizes []int64
		for _, capacity := range []int{0, 3, 1_000_000} {
			c := agent.Config{Learner: learner.Learner{
				Belief: belief, StepSize: 0.001, Train: train.Config{Integrate: train.FullData, Capacity: capacity},
			}, Features: features, Backend: backend.Go}
			a := must.M1(agent.New(c))
			teach(a, features, 0, 5)
			must.M(a.Learn(context.Background(), 1))
			if _, err := a.Data(); !errors.Is(err, agent.ErrNoData) || a.Size() != 5 {
				t.Errorf("%d features, %d data: got error %v, want ErrNoData", features, a.Size(), err)
			}
			path := filepath.Join(t.TempDir(), "agent")
			must.M(a.Save(path))
			sizes = append(sizes, must.M1(os.Stat(path)).Size())
			c.Learner.Train.Capacity = 2
			must.M1(agent.Load(c, path))
		}
		if slices.Max(sizes)-slices.Min(sizes) > 40 { // a number of more digits
			t.Errorf("%d features: files have %v bytes, want equal sizes for all capacities", features, sizes)
		}
	}
}
