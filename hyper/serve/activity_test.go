package serve

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestActivity(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	a := newActivity(func() time.Time { return now })
	for i := range 100 {
		arm := "old"
		if i%4 == 0 {
			arm = "new"
		}
		a.decided(fmt.Sprint(i), arm, time.Duration(i+1)*time.Millisecond, 0, nil)
	}
	a.decided("features", "", time.Second, 0, nil)
	for i := range 100 {
		if i%2 == 0 {
			a.rewarded(fmt.Sprint(i), float32(i/2%2))
		}
	}
	a.rewarded("0", 1) // again
	a.rewarded("never made", 1)
	a.rewarded("features", 1)
	out := a.result([]string{"old", "new", "unused"}, 0, nil)
	if out.Decisions != 101 || out.Rewards != 51 || !out.Since.Equal(now) || len(out.Steps) != steps {
		t.Errorf("got activity %+v, want 101 decisions and 51 rewards", out)
	}
	for i, want := range []string{"old 75 0.743 25 1", "new 25 0.248 25 0", "unused 0 0.000 0 none"} {
		one := out.Arms[i]
		mean := "none"
		if one.Mean != nil {
			mean = fmt.Sprint(*one.Mean)
		}
		if got := fmt.Sprintf("%s %d %.3f %d %s", one.Name, one.Decisions, one.Share, one.Rewards, mean); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// Wilson's interval of 0 of 25 is [0, z^2/(n+z^2)].
	if low, high := *out.Arms[1].Lower, *out.Arms[1].Upper; math.Abs(low) > 1e-12 || math.Abs(high-0.1332) > 1e-4 {
		t.Errorf("interval of 0 of 25: got [%v, %v], want [0, 0.1332]", low, high)
	}
	last := out.Steps[steps-1]
	if last.Decisions != 101 || last.P50 < 0.051 || last.P50 > 0.051*longer || last.P99 < 0.1 || last.P99 > 0.1*longer {
		t.Errorf("%+v: the median of 1 to 100 ms and a second is 51 ms, and 99%% take 100 ms at most", last)
	}

	now = now.Add(3 * stepLength)
	a.decided("later", "old", time.Microsecond, 0, nil)
	out = a.result(nil, 0, nil)
	if out.Steps[steps-1].Decisions != 1 || out.Steps[steps-2].Decisions != 0 || out.Steps[steps-4].Decisions != 101 {
		t.Errorf("three steps later: got steps %+v", out.Steps[steps-4:])
	}
	now = now.Add(2 * steps * stepLength)
	if out = a.result(nil, 0, nil); out.Decisions != 102 {
		t.Errorf("got %d decisions, want 102", out.Decisions)
	}
	for i, s := range out.Steps {
		if s.Decisions != 0 {
			t.Errorf("step %d, long after the decisions, has %d decisions, want 0", i, s.Decisions)
		}
	}
}

// The interval of rewards other than 0 and 1 is the normal interval; one reward has none.
func TestActivityInterval(t *testing.T) {
	var some tally
	some.reward(2)
	if low, _ := some.interval(); low != nil {
		t.Error("one reward: got an interval")
	}
	for _, y := range []float32{4, 6, 8} {
		some.reward(y)
	}
	// The mean is 5, the variance 20/3, and the standard error sqrt(20/3/4) = 1.291.
	low, high := some.interval()
	if math.Abs(*low-(5-1.959964*1.290994)) > 1e-4 || math.Abs(*high-(5+1.959964*1.290994)) > 1e-4 {
		t.Errorf("got interval [%v, %v], want the normal one", *low, *high)
	}
}

// The number of decisions that are remembered for rewards is bounded.
func TestActivityBound(t *testing.T) {
	a := newActivity(time.Now)
	for i := range mostRemembered + 10 {
		a.decided(fmt.Sprint(i), "arm", time.Millisecond, 0, nil)
	}
	if len(a.armOf) != mostRemembered || len(a.ids) != mostRemembered {
		t.Errorf("%d and %d decisions are remembered, want the maximum", len(a.armOf), len(a.ids))
	}
	a.rewarded("5", 1)
	a.rewarded(fmt.Sprint(mostRemembered+5), 1)
	if n := a.result([]string{"arm"}, 0, nil).Arms[0].Rewards; n != 1 {
		t.Errorf("%d rewards, want that of the decision that is remembered", n)
	}
}

// A decision without a reward counts once, with the reward that the agent has learned from it. A reward that arrives
// counts at once.
func TestActivityOfSilence(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	a := newActivity(func() time.Time { return now })
	learned := map[string]float32{"silent": 0, "clicked": 1}
	settled := func(id string) (float32, bool) {
		y, ok := learned[id]
		return y, ok
	}
	const wait = time.Minute
	for _, id := range []string{"silent", "clicked", "hidden"} {
		a.decided(id, "arm", time.Millisecond, wait, settled)
	}
	a.rewarded("clicked", 1)
	look := func(rewards int, mean float64) {
		t.Helper()
		one := a.result([]string{"arm"}, wait, settled).Arms[0]
		if one.Rewards != rewards || *one.Mean != mean {
			t.Errorf("%d rewards of mean %v, want %d of %v", one.Rewards, *one.Mean, rewards, mean)
		}
	}
	look(1, 1)
	now = now.Add(wait / 2)
	look(1, 1)
	now = now.Add(wait)
	look(2, 0.5)
	learned["hidden"] = 0 // shown at last, and then nothing came
	look(2, 0.5)
	now = now.Add(2 * wait)
	look(3, 1.0/3)
	now = now.Add(2 * wait)
	look(3, 1.0/3)
	if len(a.waits) > 0 {
		t.Errorf("%d decisions still wait, want none", len(a.waits))
	}
}

// The decisions that wait to be settled are bounded.
func TestActivityIsBounded(t *testing.T) {
	a := newActivity(time.Now)
	for i := range mostRemembered + 10 {
		a.decided(fmt.Sprint(i), "old", 0, time.Hour, nil)
	}
	if n := len(a.waits); n != mostRemembered || a.waits[0].id != "10" {
		t.Errorf("%d decisions wait, the first is %s, want %d and 10", n, a.waits[0].id, mostRemembered)
	}
}
