package agent

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Config says what an agent is. Model must be given; the rest has defaults.
type Config struct {
	Model hyper.Model
	// Features is the length of an input x. 0 is for a tabular base model: an input is then one number, the arm.
	Features int
	// Train is how the hypermodel is trained after each observation. Integrate "" is train.Exact where the model has an
	// exact minimiser (train.ExactFor) that is not too large (train.GainSize at most 4,096 squared). The data alone
	// then decide what the agent believes: StepSize, MapStep, Clip and the other fields of Train are not read.
	// Elsewhere it is train.Sampled, and zero numbers are 4 steps, a batch of 64 and 16 indices.
	Train train.Config
	// Replay says what is kept of many data, where Train keeps the data; "" is Growth, the others need a
	// Train.Capacity.
	Replay Replay
	// StepSize is alpha of section 2.1. 0 leaves steps to the agent: where the loss is not quadratic in nu and Train
	// names no Optimizer, that is Adam with steps of 0.01, which learns data sets of ten kinds with every hypermodel,
	// of networks too, when inputs and responses are standardised. A StepSize without an Optimizer is one of sgd, the
	// paper's, for which 0 is 0.1 or less: steps of SGD have a limit of stability, which train.Config.StepLimit
	// computes for base models linear in theta. With arms a larger StepSize is an error, and the default is at most
	// half of it. With Features the data have a part in it: steps are then at most nine tenths of the limit for the
	// largest input so far. With networks the choice is yours.
	StepSize float64
	// NoiseVariance is sigma_w^2 of the loss, in units of y^2; 0 is 1.
	NoiseVariance float64
	// PriorVariance is sigma_p^2 of the loss and of the prior. 0 makes predictions before data have variance 1 over
	// standardised inputs, as hyper.Model.UnitVariance does: it is 1/Features for a linear base model whose prior is
	// linear too, and else 1. See hyper.Prior.
	PriorVariance float64
	// Perturbation scales the data perturbations sigma_w a^T z; 0 is 1, and a negative number none.
	Perturbation float64
	// MapStep, Clip and KL are as in train.Rates: the step of a linear hypermodel's C against that of mu, 0 is 1; the
	// bound on a gradient's norm, 0 is none; the strength of the regularizer train.KL, 0 is 1.
	MapStep, Clip, KL float64
	// Policy gives the probabilities of actions; nil, or explore.Thompson{}, is explore.Thompson{N: 100}: enough
	// functions for shares.
	Policy explore.Policy
	// Floor is the chance, in (0, 1], that Act takes an action uniformly at random instead of by the Policy: no action
	// has a probability below Floor over the number of actions. 0 is 0.01, and a negative number none, as in
	// experiments.
	Floor   float64
	Anneal  float64 // c of annealed policies; 0 is 30
	Seed    uint64
	Backend string // as backend.Open; "" is its default
}

// linear tells whether the loss is quadratic in nu: a step of SGD is then stable up to a limit that does not depend on
// nu.
func (c Config) linear() bool {
	switch c.Model.Hyper.(type) {
	case hyper.Linear, hyper.Ensemble:
		return c.Model.LinearInTheta()
	}
	return false
}

func (c Config) withDefaults() Config {
	number := func(x *float64, otherwise float64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	number(&c.NoiseVariance, 1)
	if c.Model.Validate() == nil {
		number(&c.PriorVariance, c.Model.UnitVariance())
	}
	number(&c.PriorVariance, 1) // of a model that is refused
	number(&c.Perturbation, 1)
	number(&c.Anneal, 30)
	number(&c.MapStep, 1)
	number(&c.KL, 1)
	count := func(n *int, otherwise int) {
		if *n == 0 {
			*n = otherwise
		}
	}
	count(&c.Train.Steps, 4)
	count(&c.Train.Batch, 64)
	count(&c.Train.Indices, 16)
	if c.Train.Integrate == "" {
		c.Train.Integrate = integration(c.Model)
	}
	if c.StepSize == 0 && c.Train.Optimizer == "" && c.Train.Integrate != train.Exact && !c.linear() {
		c.Train.Optimizer = "adam"
	}
	if c.Train.Optimizer == "" || c.Train.Optimizer == "sgd" {
		number(&c.StepSize, c.defaultStep())
	}
	number(&c.StepSize, 0.01)
	if c.Policy == nil || c.Policy == explore.Policy(explore.Thompson{}) {
		c.Policy = explore.Thompson{N: 100}
	}
	number(&c.Floor, 0.01)
	if c.Replay == "" {
		c.Replay = Growth
	}
	if c.Replay == Growth && c.Train.Replays() {
		count(&c.Train.Capacity, mostRows)
	}
	return c
}

// integration is the default for a model.
func integration(m hyper.Model) train.Integration {
	if m.Validate() == nil && train.ExactFor(m) == nil && train.GainSize(m) <= 4096*4096 {
		return train.Exact
	}
	return train.Sampled
}

// validate joins every fault, in the order of the fields.
func (c Config) validate() error {
	model := faults.Prefix("Model: ", c.Model.Validate())
	errs := []error{model}
	if model == nil {
		training := c.Train.Validate(c.Model)
		errs = append(errs, c.checkFeatures(), faults.Prefix("Train.", training))
		if training == nil {
			errs = append(errs, c.checkStep())
		}
	}
	errs = append(errs,
		faults.Positive("StepSize", c.StepSize),
		faults.Positive("NoiseVariance", c.NoiseVariance),
		faults.Positive("PriorVariance", c.PriorVariance),
		finite("Perturbation", c.Perturbation),
		faults.Positive("MapStep", c.MapStep),
		faults.NotNegative("Clip", c.Clip),
		faults.Positive("KL", c.KL),
		c.Replay.check(),
		faults.Prefix("Policy: ", explore.Validate(c.Policy)),
		checkFloor(c.Floor),
		faults.Positive("Anneal", c.Anneal),
		faults.Prefix("Backend: ", backend.Check(cmp.Or(c.Backend, backend.Default()))))
	return errors.Join(errs...)
}

func finite(name string, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%s must be finite, got %v", name, x)
	}
	return nil
}

// checkFeatures reports Features that are not the inputs of the base model, which must be valid.
func (c Config) checkFeatures() error {
	b, known := c.Model.Base.(hyper.FixedInputs)
	switch {
	case c.Features < 0:
		return faults.AtLeast("Features", c.Features, 0)
	case known && c.Features != b.Inputs():
		return fmt.Errorf("Features must be %d, the inputs of the base model %T, got %d", b.Inputs(), c.Model.Base, c.Features)
	}
	return faults.Size("Train.Capacity x Features", max(c.Train.Capacity, 0), c.Features)
}

func (a *Agent) rates(g *Graph) train.Rates {
	number := func(x float64) *Node { return Const(g, []float32{float32(x)}) }
	c := a.config
	r := train.Rates{
		Step: number(c.StepSize), NoiseVar: number(c.NoiseVariance), PriorVar: number(c.PriorVariance),
		Perturbation: number(math.Max(c.Perturbation, 0) * math.Sqrt(c.NoiseVariance)),
		MapStep:      number(c.MapStep), KL: number(c.KL),
	}
	if c.Clip > 0 { // without a bound the norm need not be known
		r.Clip = number(c.Clip)
	}
	return r
}
