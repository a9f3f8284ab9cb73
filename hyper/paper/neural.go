package paper

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// NeuralBandit is the part of a setting that describes the environment of section 4.2.
type NeuralBandit struct {
	Actions   int     `key:"actions" help:"number of actions, uniform on the unit sphere"`
	Features  int     `key:"features" help:"d: length of an action's vector"`
	Generator string  `key:"generator" help:"hidden widths of the network that makes the rewards, and of the prior network, as 3x3"`
	Noise     float64 `key:"noise" run:"true" help:"sigma_w of the environment: standard deviation of the rewards' noise"`
}

func newNeuralBandit() NeuralBandit {
	return NeuralBandit{Actions: 200, Features: 20, Generator: "3x3", Noise: 1}
}

// Validate reports what is wrong.
func (b NeuralBandit) Validate() error {
	_, err := widths("generator", b.Generator)
	return errors.Join(atLeast("actions", b.Actions, 1), atLeast("features", b.Features, 1), err, notNegative("noise", b.Noise))
}

func (b NeuralBandit) bandit() bandit.Neural {
	return bandit.Neural{Actions: b.Actions, Layers: b.network(b.Generator).Layers}
}

// network is one from actions to a reward, with the given hidden widths.
func (b NeuralBandit) network(hidden string) base.MLP {
	w, _ := widths("", hidden)
	return base.MLP{Layers: append(append([]int{b.Features}, w...), 1)}
}

func (b NeuralBandit) environment() lab.Environment { return neuralEnvironment{b.bandit()} }

// prior is the additive prior's network, which is the generator's (section 4.2).
func (b NeuralBandit) prior(layout hyper.Layout, rows hyper.RowLaw) *hyper.Prior {
	return &hyper.Prior{Base: b.bandit().Generator(), Layout: layout, Rows: rows, StdDev: roots(b.bandit().Variances())}
}

// Belief is the part of a setting that describes what the loss takes for granted.
type Belief struct {
	NoiseVariance   float64 `key:"noise-variance" run:"true" help:"sigma_w^2 of the loss: the weight of the data"`
	PriorVariance   float64 `key:"prior-variance" run:"true" help:"sigma_p^2 of the loss's regularizer"`
	PriorMultiplier float64 `key:"prior-multiplier" run:"true" help:"m: variance of the prior network's parameters over that of the generator's"`
}

func newBelief() Belief { return Belief{NoiseVariance: 1, PriorVariance: 2.25, PriorMultiplier: 1} }

// Validate reports what is wrong.
func (b Belief) Validate() error {
	return errors.Join(positive("noise-variance", b.NoiseVariance), positive("prior-variance", b.PriorVariance), notNegative("prior-multiplier", b.PriorMultiplier))
}

// neuralEnvironment is bandit.Neural as the lab runs it.
type neuralEnvironment struct{ bandit.Neural }

func (e neuralEnvironment) Init(s rng.Stream, _ lab.Inputs) lab.State {
	actions, mean := e.Neural.Init(s)
	return lab.State{"actions": actions, "mean": mean}
}
func (e neuralEnvironment) Actions(state lab.State) *Node { return state["actions"] }
func (e neuralEnvironment) Step(state lab.State, in lab.Inputs, s rng.Stream, action *Node) (reward, regret *Node) {
	return e.Neural.Step(s, state["mean"], action, in["noise"])
}

// widths reads hidden widths written as 10x10.
func widths(name, text string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s must be widths of hidden layers joined by x, as 10x10, got %q", name, text)
		}
		out = append(out, n)
	}
	return out, nil
}

func roots(variances []float64) []float64 {
	out := make([]float64, len(variances))
	for i, v := range variances {
		out[i] = math.Sqrt(v)
	}
	return out
}
