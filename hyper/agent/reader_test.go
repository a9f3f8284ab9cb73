package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// A reader has the belief in the file, draws with its own seed, learns nothing, and continues with a later file: in
// plain Go (the first agent) and by programs.
func TestReader(t *testing.T) {
	ctx := context.Background()
	contextual := agent.Config{Seed: 3, Backend: backend.Go}.Contextual(3, 2)
	for name, c := range map[string]agent.Config{
		"contextual": contextual,
		"arms by programs": agent.Config{Seed: 3, Backend: backend.Go,
			Learner: learner.Learner{Policy: explore.TopTwo{N: 20}}}.Arms(3),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "agent")
			a := must.M1(agent.New(c))
			menu := agent.Menu{}
			if c.Encoding != nil {
				menu.Context = []float32{1, 2}
			}
			learn := func(n int) { // that action 2 is the best
				for range n {
					d := must.M1(a.Decide(ctx, menu))
					y := float32(0)
					if d.Action == 2 {
						y = 1
					}
					must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: y}))
				}
			}
			learn(4)
			must.M(a.Save(file))
			reads := func(seed uint64) *agent.Agent { return must.M1(agent.Reader(c, file, seed)) }
			r, twin, other := reads(5), reads(5), reads(6)
			must.M(r.Warmup(3))
			if r.Size() != 4 {
				t.Errorf("got %d data, want 4", r.Size())
			}
			var own, same, others []int
			for range 40 {
				d := must.M1(r.Decide(ctx, menu))
				if d.ID != "" {
					t.Fatalf("a decision of a reader has the ID %s", d.ID)
				}
				own = append(own, d.Action)
				same = append(same, must.M1(twin.Decide(ctx, menu)).Action)
				others = append(others, must.M1(other.Decide(ctx, menu)).Action)
			}
			x := must.M1(r.Inputs(menu))
			f, g := must.M1(r.Sample(x, 4)), must.M1(other.Sample(x, 4))
			if !slices.Equal(own, same) || slices.Equal(f[0], g[0]) {
				t.Errorf("decisions with the seeds 5, 5 and 6: got %v, %v and %v; functions of 5 and 6: %v, %v",
					own, same, others, f[0], g[0])
			}
			input := []float32{0}
			if x != nil {
				input = x[0]
			}
			if err := r.Add(input, 1); !errors.Is(err, agent.ErrClosed) {
				t.Errorf("Add by a reader: got error %v, want ErrClosed", err)
			}
			learn(100)
			must.M(a.Save(file))
			var deciding sync.WaitGroup
			for range 4 {
				deciding.Go(func() {
					for range 10 {
						must.M1(r.Decide(ctx, menu))
					}
				})
			}
			for range 3 {
				must.M(r.Refresh(file))
			}
			deciding.Wait()
			if r.Size() != 104 {
				t.Errorf("after the later file: got %d data, want 104", r.Size())
			}
			taken := 0
			for range 50 {
				if must.M1(r.Decide(ctx, menu)).Action == 2 {
					taken++
				}
			}
			if taken < 30 {
				t.Errorf("the reader chose the best action, 2, %d times of 50", taken)
			}
			text := must.M1(os.ReadFile(file))
			text[len(text)/2] ^= 1
			must.M(os.WriteFile(file, text, 0o600))
			if err := r.Refresh(file); err == nil || r.Size() != 104 {
				t.Errorf("damaged file: got error %v and %d data, want an error and 104", err, r.Size())
			}
			must.M1(r.Decide(ctx, menu))
			if err := r.Save(file); err == nil {
				t.Error("Save of a reader: got no error")
			}
			if err := a.Refresh(file); err == nil || !strings.Contains(err.Error(), "agent.Reader") {
				t.Error(err)
			}
		})
	}
}

// A second program decides with the file of the agent that learns.
func ExampleReader() {
	file := filepath.Join(must.M1(os.MkdirTemp("", "agent")), "agent")
	defer os.RemoveAll(filepath.Dir(file))
	c, ctx := agent.Config{}.Arms(2), context.Background()
	learner := must.M1(agent.New(c))
	for range 20 {
		d := must.M1(learner.Act(ctx, nil))
		must.M(learner.Observe(ctx, agent.Feedback{ID: d.ID, Reward: float32(d.Action)}))
	}
	must.M(learner.Save(file))

	reader := must.M1(agent.Reader(c, file, 7)) // a seed of its own for each reader
	d := must.M1(reader.Act(ctx, nil))
	fmt.Printf("arm %d, %d data, ID %q\n", d.Action, reader.Size(), d.ID)
	// Output: arm 1, 20 data, ID ""
}

// Many goroutines make the first decisions after a file was read. Load moves its tensors to the device first, because
// GoMLX cannot move one tensor for two calls at a time.
func TestRefreshBesideDecisions(t *testing.T) {
	agent.NotInShort(t)
	c := agent.Config{Seed: 3, Backend: backend.Go, Learner: learner.Learner{Policy: explore.TopTwo{N: 20}}}.Arms(3)
	file := filepath.Join(t.TempDir(), "agent")
	must.M(must.M1(agent.New(c)).Save(file))
	r := must.M1(agent.Reader(c, file, 1))
	for range 500 {
		must.M(r.Refresh(file))
		begin := make(chan struct{})
		var deciding sync.WaitGroup
		for range 8 {
			deciding.Go(func() {
				<-begin
				if _, err := r.Decide(t.Context(), agent.Menu{}); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		deciding.Wait()
	}
}
