package agent

import (
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Config says what an agent is. Model must be given, and Train.Capacity where training draws data from a replay buffer; the rest
// has defaults.
type Config struct {
	Model hyper.Model
	// Features is the length of an input x. 0 is for a tabular base model: an input is then one number, the arm.
	Features int
	// Train is how the hypermodel is trained after each observation. Integrate "" is train.Exact where the model has an exact
	// minimiser (train.ExactFor) that is not too large (train.GainSize at most 4,096 squared). The data alone then decide what the agent
	// believes: StepSize, MapStep, Clip and the other fields of Train are not read. Elsewhere it is train.Sampled, and zero numbers are
	// 4 steps, a batch of 64 and 16 indices.
	Train train.Config
	// StepSize is alpha of section 2.1; 0 is 0.1. Steps of SGD have a limit of stability, which train.Config.StepLimit computes for base models
	// linear in theta. With arms a larger StepSize is an error, and the default is at most half of it. With Features the data have a part in it: steps
	// are then at most nine tenths of the limit for the largest input so far. With networks the choice is yours.
	StepSize float64
	// NoiseVariance is sigma_w^2, and PriorVariance sigma_p^2, of the loss; 0 is 1. D of an additive prior is multiplied
	// by sigma_p.
	NoiseVariance, PriorVariance float64
	// Perturbation scales the data perturbations sigma_w a^T z; 0 is 1, and a negative number none.
	Perturbation float64
	// MapStep, Clip and KL are as in train.Rates: the step of a linear hypermodel's C against that of mu, 0 is 1; the bound on a
	// gradient's norm, 0 is none; the strength of the regularizer train.KL, 0 is 1.
	MapStep, Clip, KL float64
	Policy            explore.Policy // nil is explore.Thompson{}
	Anneal            float64        // c of annealed policies; 0 is 30
	Seed              uint64
	Backend           string // as backend.Open; "" is its default
}

func (c Config) withDefaults() Config {
	number := func(x *float64, otherwise float64) {
		if *x == 0 {
			*x = otherwise
		}
	}
	number(&c.NoiseVariance, 1)
	number(&c.PriorVariance, 1)
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
	if c.StepSize == 0 {
		c.StepSize = c.defaultStep()
	}
	if c.Policy == nil {
		c.Policy = explore.Thompson{}
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

func (c Config) validate() error {
	var errs []error
	for name, x := range map[string]float64{"Anneal": c.Anneal, "MapStep": c.MapStep, "KL": c.KL, "StepSize": c.StepSize, "NoiseVariance": c.NoiseVariance, "PriorVariance": c.PriorVariance} {
		if !(x > 0) || math.IsInf(x, 0) {
			errs = append(errs, fmt.Errorf("%s must be positive and finite, got %v", name, x))
		}
	}
	if !(c.Clip >= 0) || math.IsInf(c.Clip, 0) {
		errs = append(errs, fmt.Errorf("the Clip must not be negative, and finite, got %v", c.Clip))
	}
	if math.IsNaN(c.Perturbation) || math.IsInf(c.Perturbation, 0) {
		errs = append(errs, fmt.Errorf("the Perturbation must be finite, got %v", c.Perturbation))
	}
	if c.Features < 0 {
		errs = append(errs, fmt.Errorf("the number of Features must not be negative, got %d", c.Features))
	}
	if err := c.Model.Validate(); err != nil {
		errs = append(errs, err)
	} else {
		errs = append(errs, c.Train.Validate(c.Model), c.checkStep())
	}
	return errors.Join(errs...)
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
