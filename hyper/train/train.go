// Package train fits hypermodels by perturbed SGD (section 2.1): the loss, its gradients by several exact routes, the
// replay buffer, and the largest step with which it is stable. For base models linear in theta it has the minimiser
// itself, kept up to date datum by datum ([Exact]), and an oracle to test against.
//
// All graph functions work on a batch of runs at once, see package hyper for the axes. What a trainer keeps between
// periods is a [State]: nodes in, nodes out, nothing anywhere else.
package train

import (
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// State is what a trainer carries from period to period, by name. The first axis of every node is the runs.
type State map[string]*Node

// Integration says how the expectation over the index z, and the sum over the data, are taken in each SGD step.
type Integration int

// The integrations. All have the same minimiser.
const (
	// Sampled is the paper's: a minibatch of data and a set of sampled indices in each step.
	Sampled Integration = iota + 1
	// Analytic takes the expectation over z exactly: in closed form for a linear hypermodel of a base model that is
	// linear in theta, over all particles for an ensemble. Data still come in minibatches.
	Analytic
	// FullData is Analytic with the whole data set in each step, from sufficient statistics: its cost does not depend
	// on |D|. For base models that are linear in theta.
	FullData
	// Exact makes no SGD steps: nu is the minimiser of the loss over all data, kept by rank-one updates, and no step
	// size is needed. See [ExactFor] for the models that have it.
	Exact
)

func (i Integration) String() string {
	return enum.Word(i, "sampled", "analytic", "full-data", "exact")
}

// IndexSet says how the indices of an SGD step are drawn.
type IndexSet int

// The index sets. In all of them an index has the distribution's mean and second moments, so that all have the same
// minimiser for a base model linear in theta.
const (
	// IID draws indices independently: the paper's.
	IID IndexSet = iota + 1
	// Antithetic draws half of them independently and adds their opposites: the sample mean is exactly 0. For
	// distributions symmetric about 0.
	Antithetic
	// Frame draws opposite orthogonal vectors of one length: see [index.Frame].
	Frame
	// PerDatum draws an index for each datum of the minibatch: the usual way to train with dropout. The regularizer
	// sees the first Indices of them. For distributions whose indices cannot be listed.
	PerDatum
	// Axes is the same vectors in each step, one along each axis of the index and its opposite, as Ensemble++ has them:
	// see [index.Axes]. Indices is not read. For distributions of mean 0.
	Axes
)

func (s IndexSet) String() string {
	return enum.Word(s, "iid", "antithetic", "frame", "per-datum", "axes")
}

// Config says how a hypermodel is trained. It holds what shapes the computation; see [Rates] for the numbers that do
// not.
type Config struct {
	Steps      int         // SGD steps per period, n_sgd
	Batch      int         // minibatch size |D~|, drawn with replacement
	Indices    int         // index samples per step |Z~|
	IndexSet   IndexSet    // how they are drawn; 0 is IID
	Integrate  Integration // 0 is Sampled; Exact reads none of the others but Standardize and Discount
	Regularize Regularizer // 0 is Anchor
	Loss       Loss        // nil is Gaussian{}
	Weights    Weights     // of the data for each index; 0 is none
	Weighted   bool        // data have weights of their own, see Rates.Weight
	Optimizer  Optimizer   // nil is SGD{}
	Schedule   Schedule    // of steps; nil is Constant{}
	Capacity   int         // the most data points a run can hold, where it Replays
	Inputs     int         // features of an input kept with each datum; 0 is for arms and inputs that never change
	// Unperturbed says that no datum is perturbed, whatever Rates.Perturbation is: the replay buffer then holds no
	// perturbation vectors, which of a mean-field hypermodel are as long as its parameters. For sampled indices.
	Unperturbed bool
	// Standardize lets the loss see responses less their mean, over their standard deviation, as these are of all
	// responses so far: variances of the loss are then in units of the responses' variance, and predictions as
	// [Trainer.Responses] says.
	Standardize bool
	// Discount is how much a datum counts against the next, above 0.5 and at most 1: n data later it counts Discount^n,
	// which suits a world that changes. 0 is 1, none. It needs a belief that is its own posterior, and Exact: see
	// discount.go. Standardize has then the mean and variance of the responses with the same weights.
	Discount float64
}

// Replays tells whether training draws data from a replay buffer; the other integrations keep statistics of a fixed
// size.
func (c Config) Replays() bool { return c.Integrate != FullData && c.Integrate != Exact }

// Validate reports everything that is wrong with the configuration for the belief, which must be valid. Each error
// begins with the name of a field.
func (c Config) Validate(b hyper.Belief) error {
	p := newProblem(c, b)
	if c.Integrate == Exact {
		return errors.Join(c.ValidateNames(), p.fits(), p.standardizes(), p.discounting())
	}
	errs := []error{c.counts()}
	names := c.ValidateNames()
	errs = append(errs, names)
	if c.sampled() {
		errs = append(errs, p.indexSet())
	}
	if names == nil {
		errs = append(errs, p.fits(), p.noisy(), p.standardizes(), p.discounting())
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, p.sizes())
	}
	return errors.Join(errs...)
}

// counts reports numbers that are less than 1.
func (c Config) counts() error {
	var errs []error
	positive := func(name string, n int) { errs = append(errs, faults.AtLeast(name, n, 1)) }
	positive("Steps", c.Steps)
	if c.Replays() {
		positive("Capacity", c.Capacity)
		positive("Batch", c.Batch)
	}
	if c.sampled() {
		positive("Indices", c.Indices)
	}
	return errors.Join(append(errs, faults.AtLeast("Inputs", c.Inputs, 0))...)
}

// indexSet reports why the indices cannot be drawn as asked for.
func (p problem) indexSet() error {
	m := p.z.Moments()
	switch p.IndexSet {
	case Frame:
		if m.Pairs == 0 {
			return fmt.Errorf("IndexSet frame needs Gaussian indices or indices on a sphere, not %T; use iid", p.z)
		}
		if dim := index.FrameSize(p.z) / 2; dim > 512 {
			return fmt.Errorf("IndexSet frame is for indices (of an arm) of at most 512 dimensions, got %d; "+
				"use antithetic", dim)
		}
	case Antithetic:
		if m.Mean != 0 {
			return fmt.Errorf("IndexSet antithetic needs a distribution symmetric about 0, not %T; use iid", p.z)
		}
	case PerDatum:
		return p.perDatum()
	case Axes:
		if m.Mean != 0 || m.Blocks > 0 {
			return fmt.Errorf("IndexSet axes needs a distribution symmetric about 0, without blocks, not %T; use iid", p.z)
		}
		return nil
	default:
		return nil
	}
	if p.Indices%2 != 0 {
		return fmt.Errorf("IndexSet %s needs an even number of Indices, got %d", p.IndexSet, p.Indices)
	}
	return nil
}

// perDatum reports why data cannot have indices of their own.
func (p problem) perDatum() error {
	if p.oneHot() {
		return fmt.Errorf("IndexSet per-datum is not for %T: the step of a particle would depend on how many data it "+
			"gets; use iid", p.z)
	}
	if p.Indices > p.Batch {
		return fmt.Errorf("IndexSet per-datum has %d indices, one for each datum of a Batch, and the regularizer sees "+
			"Indices of them: at most so many, not %d", p.Batch, p.Indices)
	}
	return nil
}

// sizes reports arrays that are too large to be made.
func (p problem) sizes() error {
	errs := []error{faults.Size("Steps x Batch", p.Steps, max(p.Batch, 1))}
	if p.Replays() {
		errs = append(errs, faults.Size("Capacity x the width of the data's perturbations", p.Capacity, p.width()),
			faults.Size("Capacity x Inputs", p.Capacity, max(p.Inputs, 1)))
	}
	if p.sampled() {
		errs = append(errs, faults.Size("Steps x Indices x the length of an index", p.Steps, p.drawn(), p.z.Dim()))
		if p.Parametric != nil {
			errs = append(errs, faults.Size("Indices x parameters", p.drawn(), p.Parametric.NumTheta()))
		}
	}
	return errors.Join(errs...)
}

// ValidateNames reports an unknown integration, index set, regularizer or kind of weights, and faults of the optimizer
// and the loss.
func (c Config) ValidateNames() error {
	return errors.Join(
		part("Optimizer", c.Optimizer),
		part("Schedule", c.Schedule),
		faults.Known("Integrate", c.Integrate),
		faults.Known("IndexSet", c.IndexSet),
		faults.Known("Regularize", c.Regularize),
		part("Loss", c.Loss),
		faults.Known("Weights", c.Weights))
}

// part reports what is wrong with an optimizer or a loss; nil is a default.
func part[I comparable](name string, v I) error {
	var none I
	if v == none {
		return nil
	}
	if err := faults.Value(name, v); err != nil {
		return err
	}
	return faults.Prefix(name+": ", faults.Of(v))
}

// Rates are the numbers of section 2.1 that do not shape the computation, float32 [runs] each: runs of one batch may
// differ in them.
type Rates struct {
	Step         *Node // alpha
	NoiseVar     *Node // sigma_w^2, the weight of the data in the loss
	PriorVar     *Node // sigma_p^2, of the regulariser
	Perturbation *Node // the standard deviation of the perturbations a^T z: sigma_w in the paper; 0 is none

	// MapStep multiplies the step of the part of a linear hypermodel that sees the index, C, against that of mu. nil is
	// 1.
	MapStep *Node
	// Clip bounds the norm of the gradient of L~ / |D|, over all parameters of a run: a longer one is shortened to it.
	// nil or 0 is no bound.
	Clip *Node
	// KL is the strength of the regularizer KL. nil is 1.
	KL *Node
	// Weight is that of the datum that Observe adds, [runs], where the Config is Weighted: it counts as so many data of
	// its response. nil is 1.
	Weight *Node
	// Data is |D|, an int32 scalar, where the replay buffer holds a uniform sample of the data: minibatches come from
	// the sample and stand for all data. nil is the number of data in the buffer.
	Data *Node
}

// Batch is data points of each run.
type Batch struct {
	X *Node // inputs [runs, inputs, features]
	Y *Node // responses [runs, inputs]
	A *Node // perturbation vectors [runs, inputs, width]
	W *Node // weights [runs, inputs]; nil is 1
}
