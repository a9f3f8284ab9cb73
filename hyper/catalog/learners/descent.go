package learners

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Descent is the part of settings that describes training steps. StepSize is the step size of theta. For an ensemble
// trained by sgd it is the step size of a particle in each SGD step that visits it: alpha divided by the number of
// particles that an SGD step visits. The IndexSet frame has exact first and second moments. Integrate is a
// [train.Integration]: sampled; analytic, with the expectation over z in closed form; full-data, which uses all data
// through sufficient statistics; or exact, which computes the minimiser without SGD steps.
type Descent struct {
	StepSize float64 `run:"true" want:"positive" help:"step size of theta, or of a visited particle, before the schedule"`
	Steps    int     `key:"sgd-steps" help:"number of SGD steps per period"`
	Batch    int     `help:"number of data points per SGD step, drawn with replacement"`
	Indices  int     `key:"index-samples" help:"number of indices z sampled per SGD step"`

	IndexSet  string          `help:"iid (the paper's), antithetic (z and -z), frame (also orthogonal), per-datum or axes"`
	Integrate string          `help:"mean over z: sampled (the paper's), analytic, full-data (analytic) or exact (no SGD)"`
	Optimizer train.Optimizer `help:"sgd is the paper's; adam, adamax and rmsprop are GoMLX's"`
	Schedule  train.Schedule  `help:"how step sizes decrease with the number of data"`

	MapStep float64 `run:"true" want:"positive" help:"step size of the map from the index, relative to step-size"`
	Clip    float64 `run:"positive" want:"not negative" help:"bound on the norm of a gradient / |D|; 0 means no bound"`

	Loss    train.Loss `help:"loss of a prediction: gaussian is the paper's, for rewards with Gaussian noise"`
	Weights string     `help:"bootstrap of data: none (the paper's); with perturbation=0 also bernoulli, exponential"`

	Standardize bool `key:"standardize-rewards" help:"standardise rewards by their mean and standard deviation so far"`
}

// NewDescent returns the paper's way to train.
func NewDescent() Descent {
	return Descent{
		Steps: 1, IndexSet: train.IID.String(), Integrate: train.Sampled.String(), Optimizer: train.SGD{},
		Schedule: train.Constant{}, MapStep: 1, Loss: train.Gaussian{}, Weights: unweighted,
	}
}

// networkDescent returns the settings that searches found for networks (notebooks/results/tuning), where the paper does
// not print its settings. The searches had different budgets. Package paper's settings for 1000 actions come from
// searches with equal budgets.
func networkDescent() Descent {
	c := NewDescent()
	c.Steps, c.Batch, c.Indices, c.Optimizer = 4, 64, 16, train.Adam{}
	return c
}

// unweighted is the value of the key weights for no weights.
const unweighted = "none"

// check reports wrong words, numbers that the integration needs, and faults of the optimizer, the schedule and the
// loss.
func (c Descent) check() error {
	integrate := enum.Of[train.Integration](c.Integrate)
	errs := []error{enum.Check[train.IndexSet]("index-set", c.IndexSet),
		enum.Check[train.Integration]("integrate", c.Integrate)}
	if c.Weights != unweighted {
		errs = append(errs, enum.Check[train.Weights]("weights", c.Weights))
	}
	if integrate != train.Exact {
		errs = append(errs, faults.AtLeast("sgd-steps", c.Steps, 1))
	}
	if (train.Config{Integrate: integrate}).Replays() {
		errs = append(errs, faults.AtLeast("batch", c.Batch, 1))
	}
	if integrate == train.Sampled {
		errs = append(errs, faults.AtLeast("index-samples", c.Indices, 1))
	}
	var l learner.Learner
	c.set(&l, bandit.Problem{})
	return errors.Join(append(errs, inKeys(c, l.Train.ValidateNames()))...)
}

func (c Descent) set(l *learner.Learner, p bandit.Problem) {
	l.StepSize, l.MapStep, l.Clip = c.StepSize, c.MapStep, c.Clip
	l.Train = train.Config{
		Steps: c.Steps, Batch: c.Batch, Indices: c.Indices, Optimizer: c.Optimizer, Loss: c.Loss,
		IndexSet:    enum.Of[train.IndexSet](c.IndexSet),
		Integrate:   enum.Of[train.Integration](c.Integrate),
		Standardize: c.Standardize,
	}
	if c.Schedule != train.Schedule(train.Constant{}) {
		l.Train.Schedule = c.Schedule
	}
	if c.Weights != unweighted {
		l.Train.Weights = enum.Of[train.Weights](c.Weights)
	}
	if p.Moves {
		l.Train.Inputs = p.Features
	}
}
