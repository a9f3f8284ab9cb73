// Package train fits hypermodels by perturbed SGD (section 2.1): the loss, its gradients by several exact routes, the
// replay buffer, and the largest step with which it is stable. For base models linear in theta it has the minimiser itself, kept up to date
// datum by datum ([Exact]), and an oracle to test against.
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
	// Exact makes no SGD steps: nu is the minimiser of the loss over all data, kept by rank-one updates, and no step size is needed. See
	// [ExactFor] for the models that have it.
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

// Replays tells whether training draws data from a replay buffer; the other integrations keep statistics of a fixed size.
func (c Config) Replays() bool { return c.Integrate != FullData && c.Integrate != Exact }

// Validate reports everything that is wrong with the configuration for the model.
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
	positive("sgd-steps", c.Steps)
	if c.Replays() {
		positive("capacity", c.Capacity)
		positive("batch", c.Batch)
	}
	errs = append(errs, c.ValidateNames())
	switch c.Integrate {
	case "", Sampled:
		positive("index-samples", c.Indices)
		errs = append(errs, c.indexSet(m))
	case Analytic, FullData:
		errs = append(errs, c.exact(m))
	}
	if c.LastLayer == ImplicitStep {
		errs = append(errs, c.implicitFor(m))
	}
	if _, ok := m.Hyper.(hyper.MeanField); c.Regularize == KL && !ok {
		errs = append(errs, errors.New("the regularizer kl needs a mean-field hypermodel; use anchor"))
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
			return fmt.Errorf("index-set frame needs Gaussian indices or indices on a sphere, not %T; use iid", d)
		}
		if framed.FrameSize() > 1024 {
			return fmt.Errorf("index-set frame is for indices (of an arm) of at most 512 dimensions, got %d; use antithetic", framed.FrameSize()/2)
		}
	case Antithetic:
		if mean, _ := d.Moments(); mean != 0 {
			return fmt.Errorf("index-set antithetic needs a law symmetric about 0, not %T; use iid", d)
		}
	}
	if c.Indices%2 != 0 {
		return fmt.Errorf("index-set %s needs an even number of index-samples, got %d", c.IndexSet, c.Indices)
	}
	return nil
}

// ValidateNames reports an unknown optimizer, integration, index set or regularizer.
func (c Config) ValidateNames() error {
	var errs []error
	if _, ok := Optimizers[c.Optimizer]; !ok && c.Optimizer != "" {
		errs = append(errs, fmt.Errorf("unknown optimizer %q; choose %s", c.Optimizer, strings.Join(OptimizerNames(), ", ")))
	}
	if c.Integrate != "" && !slices.Contains(Integrations, c.Integrate) {
		errs = append(errs, fmt.Errorf("unknown integrate %q; choose sampled, analytic, full-data or exact", c.Integrate))
	}
	if c.IndexSet != "" && !slices.Contains(IndexSets, c.IndexSet) {
		errs = append(errs, fmt.Errorf("unknown index-set %q; choose iid, antithetic or frame", c.IndexSet))
	}
	if c.LastLayer != "" && c.LastLayer != GradientStep && c.LastLayer != ImplicitStep {
		errs = append(errs, fmt.Errorf("unknown last-layer %q; choose gradient or implicit", c.LastLayer))
	}
	if c.Regularize != "" && c.Regularize != Anchor && c.Regularize != KL {
		errs = append(errs, fmt.Errorf("unknown regularizer %q; choose anchor or kl", c.Regularize))
	}
	return errors.Join(errs...)
}

// exact reports why the expectation over z of m has no closed form here.
func (c Config) exact(m hyper.Model) error {
	if _, finite := m.Index().(index.Enumerable); finite && c.Integrate == Analytic {
		return nil
	}
	if _, masks := m.Index().(index.Bernoulli); masks {
		return fmt.Errorf("integrate %s has no closed form for masks; use sampled", c.Integrate)
	}
	if !m.LinearInTheta() {
		return fmt.Errorf("integrate %s needs a base model that is linear in its parameters; use sampled", c.Integrate)
	}
	if _, finite := m.Index().(index.Enumerable); finite {
		return nil
	}
	l, ok := m.Hyper.(hyper.Linear)
	if !ok {
		return fmt.Errorf("integrate %s needs a linear hypermodel or an ensemble; use sampled", c.Integrate)
	}
	if m.Prior != nil && !m.Prior.Layout.Equal(l.Layout) {
		return fmt.Errorf("integrate %s needs a prior with the hypermodel's layout; use sampled", c.Integrate)
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
}

// Batch is data points of each run.
type Batch struct {
	X *Node // inputs [runs, inputs, features]
	Y *Node // responses [runs, inputs]
	A *Node // perturbation vectors [runs, inputs, width]
}
