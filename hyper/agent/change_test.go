package agent

import (
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// A bet has expectation 1 over p-values uniform on (0, 1), and pays for small ones.
func TestBet(t *testing.T) {
	const n = 1 << 20
	sum := 0.0
	for i := range n {
		sum += bet((float64(i) + 0.5) / n)
	}
	if mean := sum / n; math.Abs(mean-1) > 0.07 { // of 1, 1/log(n) or so lies below the first p
		t.Errorf("the mean of bets is %v", mean)
	}
	for p, want := range map[float64]float64{1: 0.5, 0.9999999: 0.5, 0.5: 0.6386, 0.01: 4.451} {
		if got := bet(p); math.Abs(got-want) > 0.002 {
			t.Errorf("bet(%v) = %v, want %v", p, got, want)
		}
	}
}

// until is how many scores come before an alarm: those of a normal response that is foretold, which moves by so many
// standard deviations after some; most is the most.
func until(r *rand.Rand, least, move float64, after, most int) int {
	var c *changes
	for i := range most {
		y := r.NormFloat64()
		if i >= after {
			y += move
		}
		var alarm bool
		if c, alarm = c.tested(math.Abs(y), r.Float64(), least, time.Unix(0, 0)); alarm {
			return i + 1
		}
	}
	return most
}

// Without a change at least as many rewards come before an alarm, in the mean, as Rewards says; here those of runs that
// had none are counted as 10 times as many, which only lowers the mean. With a change it takes few.
func TestAlarms(t *testing.T) {
	const least, runs = 200, 400
	r, sum := rand.New(rand.NewPCG(1, 2)), 0.0
	for range runs {
		sum += float64(until(r, least, 0, 0, 10*least))
	}
	if mean := sum / runs; mean < least {
		t.Errorf("%v rewards come before an alarm, want %d at least", mean, least)
	}
	for _, c := range []struct {
		move float64
		most int
	}{{1, 800}, {2, 30}, {4, 8}} {
		delay := 0.0
		for range 50 {
			n := until(r, 1e4, c.move, 1000, 6000)
			if n <= 1000 {
				t.Log("an alarm before the change")
				continue
			}
			delay += float64(n-1000) / 50
		}
		t.Logf("a move of %v standard deviations is found after %.0f rewards", c.move, delay)
		if delay > float64(c.most) {
			t.Errorf("a move of %v standard deviations is found after %v rewards, want at most %d", c.move, delay, c.most)
		}
	}
}

// play gives n rewards, those of the arms, and returns how often the last arm was taken.
func play(t *testing.T, a *Agent, r *rand.Rand, n int, arms ...float64) (last int) {
	t.Helper()
	for range n {
		d := must.M1(a.Act(t.Context(), nil))
		if d.Action == len(arms)-1 {
			last++
		}
		must.M(a.Observe(t.Context(), Feedback{ID: d.ID, Reward: float32(arms[d.Action] + 0.3*r.NormFloat64())}))
	}
	return last
}

// When the best arm becomes the worst, the test says so, and an agent that begins anew finds the new best one, where one
// that does not has learned too much for that. What the test knows is in the file and in the log.
func TestChange(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, on string) {
		c := Config{Backend: on, Seed: 4, Change: &Change{Rewards: 1e4, Restart: true}}.Arms(3)
		log := &kept{}
		a := must.M1(Open(c, filepath.Join(t.TempDir(), "none"), log))
		r := rand.New(rand.NewPCG(1, 1))
		play(t, a, r, 400, 1, 0.4, 0)
		if got := a.Changes(); got.Alarms != 0 || !got.Last.IsZero() || a.Size() != 400 {
			t.Fatalf("before the change: %+v, %d data", got, a.Size())
		}
		play(t, a, r, 60, 0, 0.4, 1)
		got := a.Changes()
		if got.Alarms != 1 || got.Last.IsZero() || a.Size() >= 100 {
			t.Errorf("after the change: %+v, %d data", got, a.Size())
		}
		if n := play(t, a, r, 100, 0, 0.4, 1); n < 80 {
			t.Errorf("the best arm was taken in %d of 100 decisions", n)
		}
		path := filepath.Join(t.TempDir(), "agent")
		must.M(a.Save(path))
		again := must.M1(Open(c, filepath.Join(t.TempDir(), "none"), log))
		for name, b := range map[string]*Agent{"file": must.M1(Open(c, path, log)), "log": again} {
			if b.Changes() != a.Changes() || b.Size() != a.Size() {
				t.Errorf("from the %s: %+v of %d data, want %+v of %d", name, b.Changes(), b.Size(), a.Changes(), a.Size())
			}
		}
	})
}

// kept is a log in memory.
type kept struct{ all []journal.Record }

func (k *kept) Append(records ...journal.Record) (uint64, func() error, error) {
	for _, r := range records {
		r.Number = uint64(len(k.all))
		k.all = append(k.all, r)
	}
	return uint64(len(k.all) - len(records)), k.Sync, nil
}

func (k *kept) Next() uint64 { return uint64(len(k.all)) }
func (k *kept) Sync() error  { return nil }
func (k *kept) All(from uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for _, r := range k.all[from:] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// A test of changes whose bounds make no sense is refused, and so is one of a file.
func TestChangeRefuses(t *testing.T) {
	if _, err := New(Config{Backend: backend.Go, Change: &Change{Rewards: 2}}.Arms(2)); err == nil {
		t.Error("an alarm at every second reward")
	}
	c := (*changes)(nil)
	for range 10 {
		c, _ = c.tested(1, 0.5, 1e9, time.Time{})
	}
	if !c.valid() {
		t.Error("refused")
	}
	c.Counts[3]++
	if c.valid() {
		t.Error("counts that do not add up")
	}
}
