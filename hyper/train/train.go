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
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// State is what a trainer carries from period to period, by name. The first axis of every node is the runs.
type State map[string]*Node

// Integration says how the expectation over the index z, and the sum over the data, are taken in each SGD step.
type Integration string

// The integrations. All have the same minimiser.
const (
	// Sampled is the paper's: a minibatch of data and a set of sampled indices in each step.
	Sampled Integration = "sampled"
	// Analytic takes the expectation over z exactly: in closed form for a linear hypermodel of a base model that is
	// linear in theta, over all particles for an ensemble. Data still come in minibatches.
	Analytic Integration = "analytic"
	// FullData is Analytic with the whole data set in each step, from sufficient statistics: its cost does not depend on
	// |D|. For base models that are linear in theta.
	FullData Integration = "full-data"
	// Exact makes no SGD steps: nu is the minimiser of the loss over all data, kept by rank-one updates, and no step
	// size is needed. See [ExactFor] for the models that have it.
	Exact Integration = "exact"
)

// Integrations lists the known ones.
var Integrations = []Integration{Sampled, Analytic, FullData, Exact}

// IndexSet says how the indices of an SGD step are drawn.
type IndexSet string

// The index sets. In all of them an index has the law's mean and second moments, so that all have the same minimiser for a base
// model linear in theta.
const (
	// IID draws indices independently: the paper's.
	IID IndexSet = "iid"
	// Antithetic draws half of them independently and adds their opposites: the sample mean is exactly 0. For laws
	// symmetric about 0.
	Antithetic IndexSet = "antithetic"
	// Frame draws opposite orthogonal vectors of one length: see [index.Framed].
	Frame IndexSet = "frame"
)

// IndexSets lists the known ones.
var IndexSets = []IndexSet{IID, Antithetic, Frame}

// Regularizer is the part of the loss that does not see the data.
type Regularizer string

// The regularizers.
const (
	// Anchor is the paper's, 1/(2 sigma_p^2) E_z ||g_nu(z) - g_nu0(z)||^2 (section 2.1).
	Anchor Regularizer = "anchor"
	// KL is that of Bayes by Backprop (appendix D): the divergence of a [hyper.MeanField]'s law of theta from N(0, sigma_p^2 I), times
	// the strength Rates.KL, which is 1 in the variational bound.
	KL Regularizer = "kl"
)

// Config says how a hypermodel is trained. It holds what shapes the computation; see [Rates] for the numbers that do not.
type Config struct {
	Steps      int         // SGD steps per period, n_sgd
	Batch      int         // minibatch size |D~|, drawn with replacement
	Indices    int         // index samples per step |Z~|
	IndexSet   IndexSet    // how they are drawn; "" is IID
	Integrate  Integration // "" is Sampled; Exact reads none of the other fields
	Regularize Regularizer // "" is Anchor
	Optimizer  string      // a key of Optimizers; "" is "sgd"
	LastLayer  LastLayer   // "" is GradientStep
	Capacity   int         // the most data points a run can hold, where it Replays
}

// Replays tells whether training draws data from a replay buffer; the other integrations keep statistics of a fixed
// size.
func (c Config) Replays() bool { return c.Integrate != FullData && c.Integrate != Exact }

// Validate reports everything that is wrong with the configuration for the model. Each error begins with the name of a
// field.
func (c Config) Validate(m hyper.Model) error {
	if c.Integrate == Exact {
		return ExactFor(m)
	}
	var errs []error
	positive := func(name string, v int) {
		if v < 1 {
			errs = append(errs, fmt.Errorf("%s must be at least 1, got %d", name, v))
		}
	}
	positive("Steps", c.Steps)
	if c.Replays() {
		positive("Capacity", c.Capacity)
		positive("Batch", c.Batch)
	}
	errs = append(errs, c.ValidateNames())
	switch c.Integrate {
	case "", Sampled:
		positive("Indices", c.Indices)
		errs = append(errs, c.indexSet(m))
	case Analytic, FullData:
		errs = append(errs, c.exact(m))
	}
	if c.LastLayer == ImplicitStep {
		errs = append(errs, c.implicitFor(m))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, c.sizes(m))
	}
	if _, ok := m.Hyper.(hyper.MeanField); c.Regularize == KL && !ok {
		errs = append(errs, errors.New("Regularize kl needs a mean-field hypermodel; use anchor"))
	}
	return errors.Join(errs...)
}

// indexSet reports why the indices of m cannot be drawn as asked for.
func (c Config) indexSet(m hyper.Model) error {
	d := m.Index()
	framed, ok := d.(index.Framed)
	switch c.IndexSet {
	case "", IID:
		return nil
	case Frame:
		if !ok {
			return fmt.Errorf("IndexSet frame needs Gaussian indices or indices on a sphere, not %T; use iid", d)
		}
		if framed.FrameSize() > 1024 {
			return fmt.Errorf("IndexSet frame is for indices (of an arm) of at most 512 dimensions, got %d; use antithetic", framed.FrameSize()/2)
		}
	case Antithetic:
		if mean, _ := d.Moments(); mean != 0 {
			return fmt.Errorf("IndexSet antithetic needs a law symmetric about 0, not %T; use iid", d)
		}
	}
	if c.Indices%2 != 0 {
		return fmt.Errorf("IndexSet %s needs an even number of Indices, got %d", c.IndexSet, c.Indices)
	}
	return nil
}

// sizes reports arrays that are too large to be made.
func (c Config) sizes(m hyper.Model) error {
	errs := []error{faults.Size("Steps x Batch", c.Steps, max(c.Batch, 1))}
	if c.Replays() {
		errs = append(errs, faults.Size("Capacity x the width of the data's perturbations", c.Capacity, m.Index().Width()))
	}
	if c.Integrate == "" || c.Integrate == Sampled {
		errs = append(errs, faults.Size("Steps x Indices x the length of an index", c.Steps, c.Indices, m.Index().Dim()),
			faults.Size("Indices x parameters", c.Indices, m.Hyper.NumTheta()))
	}
	return errors.Join(errs...)
}

// ValidateNames reports an unknown optimizer, integration, index set, way to move the last layer or regularizer.
func (c Config) ValidateNames() error {
	return errors.Join(
		known("Optimizer", c.Optimizer, OptimizerNames()),
		known("Integrate", c.Integrate, Integrations),
		known("IndexSet", c.IndexSet, IndexSets),
		known("LastLayer", c.LastLayer, []LastLayer{GradientStep, ImplicitStep}),
		known("Regularize", c.Regularize, []Regularizer{Anchor, KL}))
}

// known reports a name that is not one of the choices; "" is a default.
func known[T ~string](field string, name T, choices []T) error {
	if name == "" || slices.Contains(choices, name) {
		return nil
	}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = string(c)
	}
	last := len(names) - 1
	return fmt.Errorf("%s: unknown %q%s; choose %s or %s", field, name, nearest.Hint(string(name), names), strings.Join(names[:last], ", "), names[last])
}

// exact reports why the expectation over z of m has no closed form here.
func (c Config) exact(m hyper.Model) error {
	if _, finite := m.Index().(index.Enumerable); finite && c.Integrate == Analytic {
		return nil
	}
	if _, masks := m.Index().(index.Bernoulli); masks {
		return fmt.Errorf("Integrate %s has no closed form for masks; use sampled", c.Integrate)
	}
	if !m.LinearInTheta() {
		return fmt.Errorf("Integrate %s needs a base model that is linear in its parameters; use sampled", c.Integrate)
	}
	if _, finite := m.Index().(index.Enumerable); finite {
		return nil
	}
	l, ok := m.Hyper.(hyper.Linear)
	if !ok {
		return fmt.Errorf("Integrate %s needs a linear hypermodel or an ensemble; use sampled", c.Integrate)
	}
	if m.Prior != nil && !m.Prior.Layout.Equal(l.Layout) {
		return fmt.Errorf("Integrate %s needs a prior with the hypermodel's layout; use sampled", c.Integrate)
	}
	return nil
}

// Rates are the numbers of section 2.1 that do not shape the computation, float32 [runs] each: runs of one batch may
// differ in them.
type Rates struct {
	Step         *Node // alpha
	NoiseVar     *Node // sigma_w^2, the weight of the data in the loss
	PriorVar     *Node // sigma_p^2, of the regulariser
	Perturbation *Node // the standard deviation of the perturbations a^T z: sigma_w in the paper; 0 is none

	// MapStep multiplies the step of the part of a linear hypermodel that sees the index, C, against that of mu. nil is 1.
	MapStep *Node
	// Clip bounds the norm of the gradient of L~ / |D|, over all parameters of a run: a longer one is shortened to it. nil or 0 is no bound.
	Clip *Node
	// KL is the strength of the regularizer KL. nil is 1.
	KL *Node
	// Data is |D|, an int32 scalar, where the replay buffer holds a uniform sample of the data: minibatches come from
	// the sample and stand for all data. nil is the number of data in the buffer.
	Data *Node
}

// Batch is data points of each run.
type Batch struct {
	X *Node // inputs [runs, inputs, features]
	Y *Node // responses [runs, inputs]
	A *Node // perturbation vectors [runs, inputs, width]
}
