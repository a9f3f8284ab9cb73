package train

import (
	"cmp"
	"errors"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Integration says how each SGD step takes the expectation over the index z, and the sum over the data.
type Integration int

// The integrations. All have the same minimiser.
const (
	// Sampled takes a minibatch of data and a set of sampled indices in each step, as the paper does.
	Sampled Integration = iota + 1
	// Analytic takes the expectation over z exactly: in closed form for a linear hypermodel of a base model that is
	// linear in theta, over all particles for an ensemble. Data still come in minibatches.
	Analytic
	// FullData is Analytic with the whole data set in each step, from sufficient statistics: the cost of a step does
	// not depend on |D|. It needs a base model that is linear in theta.
	FullData
	// Exact makes no SGD steps: nu is the minimiser of the loss over all data, kept up to date by rank-one updates, and
	// no step size is needed. Each of these beliefs has such a minimiser:
	//
	//   - a hyper.Conjugate belief;
	//   - an ensemble whose predictions are linear in parameters theta (base.Tabular, base.Linear), with any prior;
	//   - a belief with such predictions whose theta is affine in indices of mean 0 (Gaussian, on a sphere, per arm),
	//     with a prior in the same parameters or none;
	//   - a belief with such predictions whose theta is affine in one-hot indices, with a dense layout.
	Exact
)

func (i Integration) String() string {
	return enum.Word(i, "sampled", "analytic", "full-data", "exact")
}

// IndexSet says how the indices of an SGD step are drawn.
type IndexSet int

// The index sets. In each of them an index has the mean and the second moments of the distribution. For a base model
// linear in theta all index sets therefore have the same minimiser.
const (
	// IID draws indices independently, as the paper does.
	IID IndexSet = iota + 1
	// Antithetic draws half of the indices independently and adds their opposites: the sample mean is exactly 0. It
	// needs a distribution symmetric about 0.
	Antithetic
	// Frame draws opposite orthogonal vectors of one length: see [index.Frame].
	Frame
	// PerDatum draws an index for each datum of the minibatch: the usual way to train with dropout. The regularizer
	// sees the first Indices of these indices. PerDatum needs a distribution whose indices cannot be listed.
	PerDatum
	// Axes takes the same vectors in each step: for each axis of the index, one vector along the axis and its opposite,
	// as Ensemble++ does. See [index.Axes]. Indices is not read. Axes needs a distribution of mean 0.
	Axes
)

func (s IndexSet) String() string {
	return enum.Word(s, "iid", "antithetic", "frame", "per-datum", "axes")
}

// Config says how a hypermodel is trained. It holds the settings that shape the computation; [Rates] holds the numbers
// that do not.
type Config struct {
	Steps      int         // SGD steps per period, n_sgd
	Batch      int         // minibatch size |D~|, drawn with replacement
	Indices    int         // number of index samples per step, |Z~|
	IndexSet   IndexSet    // how indices are drawn; 0 is IID
	Integrate  Integration // 0 is Sampled; Exact makes no steps, and does not use the fields for steps
	Regularize Regularizer // 0 is Anchor
	Loss       Loss        // nil is Gaussian{}
	Weights    Weights     // how much each datum counts for each index; 0 is Unweighted
	Weighted   bool        // whether data have weights, see Rates.Weight
	Optimizer  Optimizer   // nil is SGD{}
	Schedule   Schedule    // how steps get shorter; nil is Constant{}
	Capacity   int         // the largest number of data that a run can hold, if it Replays
	Inputs     int         // number of features of each datum's input; 0 for arms and inputs that never change
	// Unperturbed trains without perturbations of the data, whatever Rates.Perturbation is. The replay buffer then
	// holds no perturbation vectors; for a mean-field hypermodel they are as long as its parameters. Unperturbed needs
	// sampled indices.
	Unperturbed bool
	// Standardize gives the loss the responses less their mean, divided by their standard deviation. The mean and the
	// standard deviation are taken over all responses so far; a response of weight w counts as w. The variances of the
	// loss are then in units of the responses' variance, and [Trainer.Responses] returns predictions in units of the
	// responses.
	Standardize bool
	// Discount is the factor by which each new datum multiplies the weight of the data before it, above 0.5 and at most
	// 1: n data later a datum counts Discount^n, which suits a world that changes. 0 is 1, no discount. Discount needs
	// Exact and a belief that is hyper.Conjugate, as hyper.BayesianLinear. Standardize then gives the responses the
	// same weights in their mean and variance.
	Discount float64
}

// Replays reports whether training draws data from a replay buffer. The other integrations keep statistics of a fixed
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
		errs = append(errs, p.fits(), p.langevin(), p.standardizes(), p.discounting())
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
			return faults.New("IndexSet", "frame needs Gaussian indices or indices on a sphere, not %T; use iid", p.z)
		}
		if dim := index.FrameSize(p.z) / 2; dim > 512 {
			return faults.New("IndexSet", "frame is for indices (of an arm) of at most 512 dimensions, got %d; "+
				"use antithetic", dim)
		}
	case Antithetic:
		if m.Mean != 0 {
			return faults.New("IndexSet", "antithetic needs a distribution symmetric about 0, not %T; use iid", p.z)
		}
	case PerDatum:
		return p.perDatum()
	case Axes:
		if m.Mean != 0 || m.Blocks > 0 {
			return faults.New("IndexSet", "axes needs a distribution symmetric about 0, without blocks, not %T; use iid", p.z)
		}
		return nil
	default:
		return nil
	}
	if p.Indices%2 != 0 {
		return faults.New("IndexSet", "%s needs an even number of %s, got %d", p.IndexSet, faults.Name("Indices"), p.Indices)
	}
	return nil
}

// perDatum reports why data cannot each have their own index.
func (p problem) perDatum() error {
	if p.oneHot() {
		return faults.New("IndexSet", "per-datum is not for %T: the step of a particle would depend on how many data it "+
			"gets; use iid", p.z)
	}
	if p.Indices > p.Batch {
		return faults.New("IndexSet", "per-datum draws one index for each of the %d data of a %s: %s must be at most "+
			"%d, got %d", p.Batch, faults.Name("Batch"), faults.Name("Indices"), p.Batch, p.Indices)
	}
	return nil
}

// sizes reports arrays that are too large to be made.
func (p problem) sizes() error {
	const steps, indices, capacity = faults.Name("Steps"), faults.Name("Indices"), faults.Name("Capacity")
	errs := []error{faults.Size(faults.Product{steps, faults.Name("Batch")}, p.Steps, max(p.Batch, 1))}
	if p.Replays() {
		errs = append(errs, faults.Size(faults.Product{capacity, "the width of the data's perturbations"}, p.Capacity, p.width()),
			faults.Size(faults.Product{capacity, faults.Name("Inputs")}, p.Capacity, max(p.Inputs, 1)))
	}
	if p.sampled() {
		errs = append(errs, faults.Size(faults.Product{steps, indices, "the length of an index"}, p.Steps, p.drawn(), p.z.Dim()))
		if p.Parametric != nil {
			errs = append(errs, faults.Size(faults.Product{indices, "parameters"}, p.drawn(), p.Parametric.NumTheta()))
		}
	}
	return errors.Join(errs...)
}

// ValidateNames reports an unknown integration, index set, regularizer or kind of weights, and wrong settings of the
// optimizer, the schedule and the loss.
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

// part reports what is wrong with an optimizer, a schedule or a loss; nil stands for the default.
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

func (c Config) optimizer() Optimizer { return cmp.Or[Optimizer](c.Optimizer, SGD{}) }
func (c Config) loss() Loss           { return cmp.Or[Loss](c.Loss, Gaussian{}) }
