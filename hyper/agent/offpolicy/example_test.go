package offpolicy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/offpolicy"
)

// An agent recommends one of three items and logs its probabilities, with its predictions before it saw the reward. The
// example estimates the mean reward of always showing the last item. The true value is 0.8.
func Example() {
	bandit, ctx := must.M1(agent.New(agent.Config{Floor: 0.3}.Arms(3))), context.Background()
	likes, users := []float64{0.2, 0.5, 0.8}, rand.New(rand.NewPCG(1, 2))
	var samples []offpolicy.Sample
	for range 400 {
		believed := must.M1(bandit.Sample(nil, 30))
		means := make([]float32, 3)
		for _, f := range believed {
			for item, x := range f {
				means[item] += x / 30
			}
		}
		shown, liked := must.M1(bandit.Act(ctx, nil)), 0.0
		if users.Float64() < likes[shown.Action] {
			liked = 1
		}
		must.M(bandit.Observe(ctx, agent.Feedback{ID: shown.ID, Reward: float32(liked)}))
		samples = append(samples,
			must.M1(offpolicy.NewSample(shown.Action, liked, shown.Probabilities, []float32{0, 0, 1}, means)))
	}
	estimate := must.M1(offpolicy.Evaluate(samples, offpolicy.DoublyRobust{}, offpolicy.Options{}))
	fmt.Println("near 0.8:", estimate.Lower < 0.8 && 0.8 < estimate.Upper && estimate.Upper-estimate.Lower < 0.2)
	// Output: near 0.8: true
}

// The log drew one of two actions with probability 0.25, and the target takes it twice as often.
func ExampleNewSample() {
	_, err := offpolicy.NewSample(0, 1.5, []float64{0.25, 0.75}, []float64{0.5, 0.5}, nil)
	fmt.Println(err)
	_, err = offpolicy.NewSample(0, 1.5, []float64{0, 1}, []float64{0.5, 0.5}, nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// logged gives action 0, which was taken, probability 0: log the probabilities that the action was drawn from
}

// The log has only the probability of the action that was taken.
func ExampleNewPartial() {
	var samples []offpolicy.Sample
	for i := range 100 { // 7 clicks in 20 impressions of the first item, 20 in 80 of the second
		item := min(i%5, 1)
		click := 0.0
		if i%(3+item) == 0 {
			click = 1
		}
		samples = append(samples,
			must.M1(offpolicy.NewPartial(item, click, []float64{0.2, 0.8}[item], []float64{0.5, 0.5}, nil)))
	}
	fmt.Println(must.M1(offpolicy.Evaluate(samples, offpolicy.SNIPS{}, offpolicy.Options{Level: 0.9})))
	// Output: 0.3 [0.2093, 0.4121]
}

// A log that never takes the third action does not allow an estimate for a target that takes it.
func ExampleEvaluate() {
	var samples []offpolicy.Sample
	for i := range 100 {
		samples = append(samples, must.M1(offpolicy.NewSample(i%2, float64(i%2), []float64{0.5, 0.5, 0},
			[]float64{0, 0.5, 0.5}, nil)))
	}
	_, err := offpolicy.Evaluate(samples, offpolicy.SNIPS{}, offpolicy.Options{})
	fmt.Println(errors.Is(err, offpolicy.ErrNoOverlap))
	// Output: true
}
