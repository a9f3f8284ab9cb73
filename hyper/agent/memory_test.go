package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// lineModel returns a dense linear hypermodel of a linear base model, with a prior.
func lineModel(features, width int) hyper.Model {
	line, layout := base.Linear{Features: features}, hyper.Dense(features, width)
	return hyper.Model{
		Base:  line,
		Hyper: hyper.Linear{Layout: layout, P: index.Gaussian{N: width}, InitC: hyper.InitZeros},
		Prior: &hyper.Prior{Base: line, Layout: layout},
	}
}

// ofLines returns an agent of actions with 4 features and a lineModel.
func ofLines(width, capacity int, on string, replay agent.Replay) *agent.Agent {
	return must.M1(agent.New(agent.Config{
		Learner: learner.Learner{
			Belief: lineModel(4, width), StepSize: 0.01,
			Train: train.Config{Capacity: capacity, Integrate: train.Sampled, Steps: 1, Batch: 4, Indices: 4},
		},
		Features: 4, Backend: on, Replay: replay,
	}))
}

// resident returns the memory of the process without garbage of Go, in megabytes.
func resident(t *testing.T) int {
	debug.FreeOSMemory()
	var size, pages int
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs /proc")
	}
	must.M1(fmt.Sscan(string(text), &size, &pages))
	return pages * os.Getpagesize() >> 20
}

// Observations do not make the memory of an agent grow, even memory that Go's garbage collector does not see. Without
// freeing, 50 states of 5 MB each would.
func TestMemoryOfStates(t *testing.T) {
	agent.NotInShort(t)
	testbackend.ForEach(t, func(t *testing.T, on string) {
		a := ofLines(30, 40_000, on, agent.Reservoir)
		observe := func(n int) {
			for i := range n {
				must.M(a.Told([]float32{1, 0, float32(i%3) / 3, 0}, 1))
				must.M1(a.Act(context.Background(), make4(3)))
			}
		}
		observe(10)
		before := resident(t)
		observe(50)
		if grown := resident(t) - before; grown > 100 {
			t.Errorf("memory grew by %d MB in 50 observations, want at most 100 MB", grown)
		}
	})
}

func make4(n int) [][]float32 {
	x := make([][]float32, n)
	for i := range x {
		x[i] = []float32{float32(i) / 10, 1, 0, 0}
	}
	return x
}

// All methods run at the same time. No state is freed while it is read, and no program while it runs, although 20
// shapes are used and 16 programs kept.
func TestSideBySide(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, on string) {
		shapes, rounds := 20, 60
		if on != backend.Go { // what takes long is compiling
			shapes, rounds = 3, 100
		}
		a := ofLines(5, 32, on, agent.Window)
		var wait sync.WaitGroup
		errs := make(chan error, 100)
		side := func(f func(i int) error) {
			wait.Go(func() {
				for i := range rounds {
					if err := f(i); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		path := t.TempDir() + "/agent"
		for range 2 {
			side(func(i int) error { _, err := a.Act(context.Background(), make4(1+i%3)); return err })
			side(func(i int) error { _, err := a.Sample(make4(2), 1+i%shapes); return err })
			side(func(i int) error { return a.Told([]float32{1, 0, float32(i % 3), 0}, 0.5) })
		}
		side(func(int) error { return a.Save(path) })
		side(func(int) error { data, err := a.Data(); return errors.Join(err, tooMany(data, 32)) })
		side(func(int) error { return a.Warmup(2) })
		wait.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
		if a.Size() != 2*rounds {
			t.Errorf("%d data, want %d", a.Size(), 2*rounds)
		}
	})
}

func tooMany(data []agent.Datum, n int) error {
	if len(data) > n {
		return fmt.Errorf("%d data, more than %d", len(data), n)
	}
	return nil
}
