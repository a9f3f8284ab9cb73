package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// sgd returns a configuration of two arms, trained by SGD on the Go backend.
func sgd() agent.Config {
	return agent.Config{Learner: learner.Learner{Belief: armsModel(2, 3), StepSize: 0.01,
		Train: train.Config{Capacity: 50, Integrate: train.Sampled}}, Backend: backend.Go}
}

// Feedback that comes late, in another order, in batches and twice gives the same agent, to the bit, as an agent that
// got the data in that order.
func TestFeedbackInAnyOrder(t *testing.T) {
	ctx := context.Background()
	a, b := must.M1(agent.New(sgd())), must.M1(agent.New(sgd()))
	var made []agent.Decision
	for range 6 {
		made = append(made, must.M1(a.Act(ctx, nil)))
		must.M1(b.Act(ctx, nil))
	}
	reward := func(i int) agent.Feedback { return agent.Feedback{ID: made[i].ID, Reward: float32(i)} }
	must.M(a.Observe(ctx, reward(4), reward(1)))
	must.M(a.Observe(ctx, reward(1), reward(5), reward(4)))
	must.M(a.Observe(ctx, reward(0)))
	for _, i := range []int{4, 1, 5, 0} {
		must.M(b.Told([]float32{float32(made[i].Action)}, float32(i)))
	}
	for range 3 {
		x, y := must.M1(a.Act(ctx, nil)), must.M1(b.Act(ctx, nil))
		if !reflect.DeepEqual(x.Nameless(), y.Nameless()) || a.Size() != 4 {
			t.Fatalf("got %d data and decision %v, want 4 and decision %v, as when told in that order", a.Size(), x, y)
		}
	}
}

// A Feedback that is not taken returns an error of its own kind. The others are taken, and the refused one may be sent
// again.
func TestFeedbackThatIsNotTaken(t *testing.T) {
	c, ctx := sgd(), context.Background()
	c.Pending, c.Expire = 3, time.Hour
	a := must.M1(agent.New(c))
	var made []agent.Decision
	for range 5 {
		made = append(made, must.M1(a.Act(ctx, nil)))
	}
	good, salt := made[4].ID, made[3].ID[strings.Index(made[3].ID, "-"):]
	for id, want := range map[string]error{
		made[0].ID: agent.ErrExpired, made[1].ID: agent.ErrExpired, "2" + salt: agent.ErrUnknown,
		"5" + salt: agent.ErrUnknown,
		"":         agent.ErrUnknown, "4": agent.ErrUnknown, "0004" + salt: agent.ErrUnknown, "no-ID": agent.ErrUnknown,
		strings.Repeat("9", 1000): agent.ErrUnknown,
	} {
		err := a.Observe(ctx, agent.Feedback{ID: id, Reward: 1}, agent.Feedback{ID: good, Reward: 1})
		if !errors.Is(err, want) || len(err.Error()) > 200 || a.Size() != 1 {
			t.Errorf("%q: %v, %d data; want %v", id, err, a.Size(), want)
		}
	}
	each := a.ObserveEach(ctx, agent.Feedback{ID: "no-ID"}, agent.Feedback{ID: good, Reward: 1})
	if len(each) != 2 || !errors.Is(each[0], agent.ErrUnknown) || each[1] != nil {
		t.Errorf("ObserveEach of a wrong and a good reward: got errors %v", each)
	}
	nan := agent.Feedback{ID: made[3].ID, Reward: float32(math.NaN())}
	if err := a.Observe(ctx, nan); !errors.Is(err, agent.ErrNotFinite) || !strings.Contains(err.Error(), nan.ID) {
		t.Errorf("NaN as a reward: got error %v, want ErrNotFinite with the ID", err)
	}
	must.M(a.Observe(ctx, agent.Feedback{ID: nan.ID, Reward: 2}))
	if a.Size() != 2 {
		t.Errorf("got %d data after the reward was sent again", a.Size())
	}
	if err := a.Observe(ctx, nan); !errors.Is(err, agent.ErrNotFinite) {
		t.Errorf("NaN as a repeated reward: got error %v, want ErrNotFinite", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	left := agent.Feedback{ID: made[2].ID, Reward: 1}
	if err := a.Observe(done, left, left); !errors.Is(err, context.Canceled) || a.Size() != 2 ||
		!strings.HasPrefix(err.Error(), "2 of 2 rewards were not taken: ") {
		t.Errorf("canceled context: got error %v and %d data, want Canceled and 2", err, a.Size())
	}
	must.M(a.Observe(ctx, left))
	a.Close()
	if err := a.Observe(ctx, left); err != nil { // it has come before
		t.Errorf("duplicate reward after Close: got error %v, want none", err)
	}
	last := must.M1(a.Act(ctx, nil))
	if err := a.Observe(ctx, agent.Feedback{ID: last.ID}); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("Observe after Close: got error %v, want ErrClosed", err)
	}
}

// A decision also expires by its age.
func TestExpire(t *testing.T) {
	c, ctx := sgd(), context.Background()
	c.Expire = time.Nanosecond
	a := must.M1(agent.New(c))
	d := must.M1(a.Act(ctx, nil))
	time.Sleep(time.Millisecond)
	if err := a.Observe(ctx, agent.Feedback{ID: d.ID}); !errors.Is(err, agent.ErrExpired) ||
		!strings.Contains(err.Error(), "1ns") {
		t.Errorf("expired decision: got error %v, want ErrExpired with the age 1ns", err)
	}
}

// Feedback for a decision that was made before a file was saved is taken once after the file is loaded.
func TestFeedbackAfterLoading(t *testing.T) {
	c, ctx := agent.Config{}.Linear(2), context.Background()
	c.Backend = backend.Go
	a, path := must.M1(agent.New(c)), filepath.Join(t.TempDir(), "agent")
	x := [][]float32{{1, 2}, {3, 4}, {5, 6}}
	first, second := must.M1(a.Act(ctx, x)), must.M1(a.Act(ctx, x))
	must.M(a.Observe(ctx, agent.Feedback{ID: first.ID, Reward: 1}))
	must.M(a.Save(path))
	lost := must.M1(a.Act(ctx, x)) // the program crashes before it saves again
	c.Pending = 10
	b := must.M1(agent.Load(c, path))
	again := must.M1(b.Act(ctx, x))
	if err := b.Observe(ctx, agent.Feedback{ID: lost.ID}); !errors.Is(err, agent.ErrUnknown) {
		t.Errorf("feedback for a decision after the file was saved: got error %v", err)
	}
	for range 2 {
		must.M(b.Observe(ctx, agent.Feedback{ID: first.ID, Reward: 1}, agent.Feedback{ID: second.ID, Reward: 2},
			agent.Feedback{ID: again.ID, Reward: 3}))
	}
	if b.Size() != 3 {
		t.Errorf("%d data, want 3", b.Size())
	}
	must.M(a.Add(x[second.Action], 2))
	must.M(a.Add(x[again.Action], 3))
	if p, q := must.M1(a.Sample(x, 2)), must.M1(b.Sample(x, 2)); fmt.Sprint(p) != fmt.Sprint(q) {
		t.Errorf("samples: %v and %v, want equal samples", p, q)
	}
}

// A background learner makes its rounds while others act and observe, stays within its share of the time, and stops.
func TestBackground(t *testing.T) {
	c, ctx := sgd(), context.Background()
	c.Background = &agent.Background{CPU: 0.9, Rounds: 2}
	a := must.M1(agent.New(c))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				d := must.M1(a.Act(ctx, nil))
				must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: float32(d.Action)}))
			}
		})
	}
	wg.Wait()
	for begun := time.Now(); a.Rounds() < 200 && time.Since(begun) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if a.Size() != 100 || a.Rounds() != 200 || a.LearnerError() != nil {
		t.Errorf("%d data, %d rounds, %v; want 100 and 200", a.Size(), a.Rounds(), a.LearnerError())
	}
	a.Close()
	a.Close()
	if err := a.Learn(ctx, 1); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("Learn after Close: got error %v, want ErrClosed", err)
	}
	must.M1(a.Act(ctx, nil))
	for _, b := range []agent.Background{{CPU: -1}, {CPU: 1.5}, {CPU: math.NaN()}, {Rounds: -1}} {
		c.Background = &b
		if _, err := agent.New(c); err == nil || !strings.Contains(err.Error(), "Background.") {
			t.Errorf("background %+v: got error %v, want one about Background", b, err)
		}
	}
}

// If the learner diverges or panics, Act and Observe still work, and LearnerError says what happened.
func TestBackgroundThatFails(t *testing.T) {
	c, ctx := sgd(), context.Background()
	c.Background, c.Learner.StepSize, c.Learner.FreeSteps = new(agent.Background), 1e30, true
	a := must.M1(agent.New(c))
	defer a.Close()
	for range 3 {
		d := must.M1(a.Act(ctx, nil))
		must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: 1}))
	}
	for begun := time.Now(); a.LearnerError() == nil && time.Since(begun) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if err := a.LearnerError(); !errors.Is(err, agent.ErrNotFinite) {
		t.Errorf("LearnerError: got %v, want ErrNotFinite", err)
	}
	must.M1(a.Act(ctx, nil))
}

// A decision whose context has ended is not made.
func TestActKeepsDeadlines(t *testing.T) {
	a := must.M1(agent.New(sgd()))
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if _, err := a.Act(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Act: got error %v, want DeadlineExceeded", err)
	}
	long, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if d := must.M1(a.Act(long, nil)); !strings.HasPrefix(d.ID, "0-") || d.Prob() != float64(d.Probabilities[d.Action]) {
		t.Errorf("got decision %v, want an ID that begins with 0- and the probability of the action", d)
	}
}

// An agent of probabilities learns from rewards of 0 and 1, and from fractions. Other rewards are refused, and the
// decision still waits.
func TestBernoulliRewards(t *testing.T) {
	c := agent.Config{Backend: backend.Go}.Linear(1)
	c.Learner.Train = train.Config{Loss: train.LogisticLoss{}, Integrate: train.Sampled}
	c.Learner.Perturbation, c.Learner.NoiseVariance = -1, 1
	a := must.M1(agent.New(c))
	for i := range 120 {
		d := must.M1(a.Act(t.Context(), [][]float32{{1}, {-1}}))
		for _, wrong := range []float32{-0.1, 1.5} {
			err := a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: wrong})
			if !errors.Is(err, agent.ErrReward) || !strings.Contains(err.Error(), "must be in [0, 1]") {
				t.Fatal(err)
			}
		}
		y := float32(0)
		if d.Action == 0 && i%4 > 0 { // of which three in four are 1
			y = 1
		}
		must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: y}))
	}
	means := make([]float32, 2)
	for _, f := range must.M1(a.Sample([][]float32{{1}, {-1}}, 50)) {
		for i, p := range f {
			if means[i] += p / 50; !(p > 0 && p < 1) {
				t.Errorf("got a probability of %v, want one between 0 and 1", p)
			}
		}
	}
	if !(means[0] > 0.6 && means[0] < 0.9 && means[1] < 0.35) {
		t.Errorf("probabilities %v, want some 0.75 and 0", means)
	}
}

// One feedback of weight 20 teaches as much as 20 of weight 1: the agents then have the same belief up to chance. An
// invalid weight is refused.
func TestWeightedFeedback(t *testing.T) {
	for _, integrate := range []train.Integration{train.Exact, train.Sampled} {
		after := func(times int, weight float32) (mean float64) {
			c := sgd()
			c.Learner.Train = train.Config{Capacity: 50, Integrate: integrate, Weighted: true}
			a := must.M1(agent.New(c))
			for range times {
				for {
					d := must.M1(a.Act(t.Context(), nil))
					if d.Action == 0 {
						must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 2, Weight: weight}))
						break
					}
				}
			}
			must.M(a.Learn(t.Context(), 100))
			for _, f := range must.M1(a.Sample([][]float32{{0}}, 2000)) {
				mean += float64(f[0]) / 2000
			}
			return mean
		}
		light, heavy, many := after(1, 1), after(1, 20), after(20, 1)
		if math.Abs(heavy-many) > 0.15 || heavy < light+0.4 {
			t.Errorf("%s: the mean is %.2f for weight 1, %.2f for 20, %.2f for 20 times", integrate, light, heavy, many)
		}
	}
	a := must.M1(agent.New(sgd()))
	d := must.M1(a.Act(t.Context(), nil))
	for want, w := range map[string]float32{"must be positive": -1, "needs Config.Learner.Train.Weighted": 2,
		"at most 1e9": 1e10} {
		if err := a.Observe(t.Context(), agent.Feedback{ID: d.ID, Weight: w}); !errors.Is(err, agent.ErrReward) || !strings.Contains(err.Error(), want) {
			t.Errorf("weight %v: %v, want %q", w, err, want)
		}
	}
	must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 1, Weight: 1}))
}
