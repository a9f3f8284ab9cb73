package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// A service chooses one of two pages for a visitor, whose age and number of visits it knows. The first page suits the
// young, and the other one the old. The agent learns this from 300 visitors, whatever the scale of the numbers.
func ExampleContextual() {
	a := must.M1(Contextual(2, 2))
	r := rand.New(rand.NewPCG(1, 2))
	right := 0
	for visitor := range 300 {
		age, visits := 18+50*r.Float32(), 1000*r.Float32()
		d := must.M1(a.Decide(context.Background(), Menu{Context: []float32{age, visits}}))
		reward := float32(0)
		if (age > 43) == (d.Action == 1) {
			reward = 1
		}
		must.M(a.Observe(context.Background(), Feedback{ID: d.ID, Reward: reward}))
		if visitor >= 200 {
			right += int(reward)
		}
	}
	fmt.Println("more than 85 of the last 100 are right:", right > 85)
	// Output: more than 85 of the last 100 are right: true
}

// Networks learn preferences that no line separates: the first page suits visitors who are young, or come often.
func ExampleContextualNeural() {
	a := must.M1(ContextualNeural(2, 2, 20))
	r := rand.New(rand.NewPCG(1, 2))
	right := 0
	for visitor := range 150 {
		age, visits := 18+50*r.Float32(), 1000*r.Float32()
		d := must.M1(a.Decide(context.Background(), Menu{Context: []float32{age, visits}}))
		reward := float32(0)
		if (age > 43 && visits < 500) == (d.Action == 1) {
			reward = 1
		}
		must.M(a.Observe(context.Background(), Feedback{ID: d.ID, Reward: reward}))
		if visitor >= 50 {
			right += int(reward)
		}
	}
	fmt.Println("more than 75 of the last 100 are right:", right > 75)
	// Output: more than 75 of the last 100 are right: true
}

// The options of Contextual are fields of the Config, and other agents refuse them.
func TestContextualOptions(t *testing.T) {
	c := Config{Forget: 0.99, Waves: None}.Contextual(2, 3)
	if b := c.Learner.Belief.(hyper.BayesianLinear); b.Waves != 0 || c.Learner.Train.Discount != 0.99 {
		t.Errorf("got %d cosines and a discount of %v, want 0 and 0.99", b.Waves, c.Learner.Train.Discount)
	}
	if b := (Config{Waves: 7}).Contextual(2, 3).Learner.Belief.(hyper.BayesianLinear); b.Waves != 7 {
		t.Errorf("got %d cosines, want 7", b.Waves)
	}
	a := must.M1(New(c))
	_, err := a.Act(t.Context(), nil)
	if want := "a context of 3 numbers, and the menu has none: give it to Decide, as Menu.Context"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for want, c := range map[string]Config{
		"only Contextual supports Forget": Config{Forget: 0.99}.Linear(3),
		"only Contextual supports Waves":  Config{Waves: 10}.Arms(3),
		"Waves to 0, because other agents": {Waves: 10, Features: 2, Learner: learner.Learner{
			Belief: hyper.BayesianLinear{Features: 2, Waves: 5, Length: 1}}},
		"Forget must be above 0.5 and at most 1, got 0.4": Config{Forget: 0.4}.Contextual(2, 3),
		"Forget must be above 0.5 and at most 1, got 1.5": Config{Forget: 1.5}.Contextual(2, 3),
		"Waves must be at least 1":                        Config{Waves: -5}.Contextual(2, 3),
		"ContextualNeural: context must be":               Config{}.ContextualNeural(2, 0, 10),
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The inputs of each kind of Encoding equal inputs computed by hand.
func TestEncodings(t *testing.T) {
	arms := Menu{Context: []float32{2, 3}, Arms: []int{2, 0}}
	actions := Menu{Context: []float32{2, 3}, Actions: [][]float32{{5, 7}}}
	for want, c := range map[string]struct {
		Encoding
		Menu
	}{
		"[[0 0 1 2 3] [1 0 0 2 3]]": {Encoding{Context: 2, Arms: 3, Code: AsOneHot}, arms},
		"[[2 2 3] [0 2 3]]":         {Encoding{Context: 2, Arms: 3, Code: AsNumber}, arms},
		"[[0 1 2 3 0 0 2 3] [1 0 2 3 2 3 0 0]]": {Encoding{Context: 2, Arms: 2, Code: AsOneHot, Cross: true},
			Menu{Context: []float32{2, 3}, Arms: []int{1, 0}}},
		"[[5 7 2 3]]":             {Encoding{Context: 2, Action: 2}, actions},
		"[[5 7 2 3 10 15 14 21]]": {Encoding{Context: 2, Action: 2, Cross: true}, actions},
		"[[5 7]]":                 {Encoding{Action: 2}, Menu{Actions: actions.Actions}},
		"[[0 2 3] [1 2 3]]": {Encoding{Context: 2, Arms: 2, Code: AsNumber},
			Menu{Context: []float32{2, 3}}},
	} {
		if err := errors.Join(c.Validate(), c.check(c.Menu)); err != nil {
			t.Errorf("inputs %s: got error %v, want none", want, err)
			continue
		}
		x := newEncoder(&c.Encoding).inputs(c.Menu, true)
		if got := fmt.Sprint(x); got != want || len(x[0]) != c.Width() {
			t.Errorf("%+v: %s of width %d, want %s", c.Encoding, got, c.Width(), want)
		}
	}
}

// Numbers are standardised by all numbers so far, including the present ones. A number that has always been the same
// becomes 0, outliers are cut, and Inputs does not count its numbers.
func TestStandardised(t *testing.T) {
	e := newEncoder(&Encoding{Context: 2, Arms: 2, Code: AsNumber, Standardize: true})
	var seen []float64
	for i, v := range []float32{3, 5, -1, 2, 1e6} {
		before := fmt.Sprint(e.context)
		e.inputs(Menu{Context: []float32{-7, 9}}, false)
		if fmt.Sprint(e.context) != before {
			t.Fatal("Inputs has changed the statistics")
		}
		seen = append(seen, float64(v))
		m := Menu{Context: []float32{v, 4}}
		got := e.inputs(m, true)[1]
		e.count(m)
		mean, m2 := 0.0, 0.0
		for _, u := range seen {
			mean += u / float64(len(seen))
		}
		for _, u := range seen {
			m2 += (u - mean) * (u - mean)
		}
		want := 0.0
		if i > 0 {
			want = (float64(v) - mean) / math.Sqrt(m2/float64(i))
		}
		if math.Abs(float64(got[1])-want) > 1e-6 || got[2] != 0 || got[0] != 1 {
			t.Errorf("after %v: %v, want 1, %v and 0", seen, got, want)
		}
	}
	for range 100 {
		e.count(Menu{Context: []float32{0, 0}})
	}
	if x := e.inputs(Menu{Context: []float32{1e18, 0}}, true)[0]; x[1] != mostDeviations {
		t.Errorf("outlier: got %v, want the largest deviation", x[1])
	}
}

// One wrong number does no lasting harm to the statistics, and they follow numbers whose scale has changed.
func TestWrongNumberIsCut(t *testing.T) {
	s := newSpread(1)
	random := rand.New(rand.NewPCG(1, 2))
	add := func(n int, scale float32) {
		for range n {
			s.add([]float32{scale * random.Float32()})
		}
	}
	add(300, 1)
	before := s.deviation(0, s.Count)
	s.add([]float32{1e6})
	if after := s.deviation(0, s.Count); after > 2*before {
		t.Errorf("one wrong number changes the standard deviation from %v to %v", before, after)
	}
	add(300, 1000)
	if after := s.deviation(0, s.Count); after < 150 { // 289 if all numbers had the new scale
		t.Errorf("after as many numbers of a larger scale, the standard deviation is %v", after)
	}
}

// With an Encoding, Linear learns from features of any scale.
func TestLinearOfAnyScale(t *testing.T) {
	c := Config{Backend: backend.Go, Encoding: &Encoding{Action: 2, Standardize: true}}
	a, random, best := must.M1(New(c.Linear(2))), rand.New(rand.NewPCG(3, 4)), 0
	reward := func(x []float32) float32 { return (x[0]-1500)/300 + x[1] }
	for i := range 200 {
		var actions [][]float32
		largest := float32(math.Inf(-1))
		for range 5 {
			x := []float32{1500 + 300*float32(random.NormFloat64()), float32(random.NormFloat64())}
			actions, largest = append(actions, x), max(largest, reward(x))
		}
		d := must.M1(a.Act(t.Context(), actions))
		got := reward(actions[d.Action])
		must.M(a.Observe(t.Context(), Feedback{ID: d.ID, Reward: got}))
		if i >= 100 && got == largest {
			best++
		}
	}
	if best < 90 {
		t.Errorf("the best of 5 actions in %d of the last 100 decisions", best)
	}
}

// An error says what is wrong with a menu or an Encoding, and the agent is unchanged.
func TestWrongMenus(t *testing.T) {
	a := must.M1(New(Config{Backend: backend.Go}.Contextual(3, 2)))
	nan := float32(math.NaN())
	for want, m := range map[string]Menu{
		"the context must have 2 numbers, got 1":                 {Context: []float32{1}},
		"number 1 of the context is too large":                   {Context: []float32{1, nan}},
		"one of 0 to 2, got 3":                                   {Context: []float32{1, 2}, Arms: []int{0, 3}},
		"some of 0 to 2, or nil for all":                         {Context: []float32{1, 2}, Arms: []int{}},
		"Menu.Actions must be nil, because the actions are arms": {Context: []float32{1, 2}, Actions: [][]float32{{1}}},
		"arm 1 is given twice":                                   {Context: []float32{1, 2}, Arms: []int{1, 0, 1}},
	} {
		if _, err := a.Decide(t.Context(), m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
	if a.encoder.context.Count != 0 {
		t.Error("the statistics include numbers of a refused menu")
	}
	features := Encoding{Action: 2}
	for want, m := range map[string]Menu{
		"action 1 must have 2 numbers, got 1":           {Actions: [][]float32{{1, 2}, {1}}},
		"number 0 of action 0 is too large":             {Actions: [][]float32{{nan, 2}}},
		"Menu.Actions must list the actions, each by 2": {},
		"the context must have 0 numbers":               {Context: []float32{1}, Actions: [][]float32{{1, 2}}},
		"each by 2 numbers, and Menu.Arms must be nil":  {Actions: [][]float32{{1, 2}}, Arms: []int{0}},
	} {
		if err := features.check(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
	for want, e := range map[string]Encoding{
		"Arms and Action exclude each other": {Arms: 2, Action: 2, Context: 1},
		"Arms need a Context":                {Arms: 2},
		"there is nothing to choose from":    {Context: 1},
		"Cross goes with Code one-hot":       {Arms: 2, Context: 1, Code: AsNumber, Cross: true},
		"Cross needs a Context":              {Action: 2, Cross: true},
		"Context must be at least 0":         {Context: -1},
	} {
		if _, err := New(Config{Encoding: &e}.Linear(2)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
	if _, err := must.M1(Linear(2)).Decide(t.Context(), Menu{Context: []float32{1}}); err == nil ||
		!strings.Contains(err.Error(), "needs a Config.Encoding") {
		t.Errorf("context without an Encoding: got error %v, want one about Config.Encoding", err)
	}
}

// For an agent without a context, some of the arms are given as actions by their numbers, as the error about Menu.Arms
// says.
func TestSomeOfTheArms(t *testing.T) {
	a := must.M1(New(Config{Backend: backend.Go, Floor: -1}.Arms(3)))
	if _, err := a.Decide(t.Context(), Menu{Arms: []int{2, 0}}); err == nil ||
		!strings.Contains(err.Error(), "[][]float32{{2}, {0}}") {
		t.Errorf("Menu.Arms: got error %v, want one that shows the actions to pass", err)
	}
	for range 20 {
		must.M(a.Told([]float32{2}, 1))
		must.M(a.Told([]float32{0}, -1))
	}
	d := must.M1(a.Act(t.Context(), [][]float32{{2}, {0}}))
	if d.Action != 0 || len(d.Probabilities) != 2 { // the place of arm 2
		t.Errorf("got decision %+v, want action 0 with 2 probabilities", d)
	}
}

// Every method refuses an input that begins with the number of an arm that does not exist.
func TestArmsThatAreNotThere(t *testing.T) {
	number := Config{}.Linear(2)
	number.Encoding = &Encoding{Context: 1, Arms: 4, Code: AsNumber}
	block := Config{}.Contextual(4, 1)
	block.Encoding = nil
	for name, c := range map[string]Config{"both": Config{}.Contextual(4, 1), "a number": number, "a block": block} {
		c.Backend = backend.Go
		changing := c
		changing.Change, changing.Learner.Train.Standardize = &Change{}, false
		for _, c := range []Config{c, changing} {
			a := must.M1(New(c))
			s := a.Snapshot()
			for _, x := range []float32{7, 4, -1, 0.5, 1e18} {
				_, sampled := a.Sample([][]float32{{x, 1}}, 2)
				_, calibrated := s.Calibrate([][]float32{{x, 1}}, []float32{1})
				for what, err := range map[string]error{"Add": a.Add([]float32{x, 1}, 1), "Sample": sampled,
					"Calibrate": calibrated} {
					if want := fmt.Sprintf("an arm from 0 to 3, got %v", x); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s, %s: %v, want %q", name, what, err, want)
					}
				}
			}
			must.M(a.Add([]float32{3, 0.5}, 1))
			must.M1(s.Calibrate([][]float32{{0, 0.5}}, []float32{1}))
			s.Close()
		}
	}
	c := Config{Backend: backend.Go}.Contextual(2, 1)
	c.Encoding.Arms = 3
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "Encoding.Arms must be at most 2") {
		t.Errorf("more arms than blocks: got error %v, want one about Encoding.Arms", err)
	}
}
