package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// problem is what a Trainer trains: the configuration, the belief and the belief's capabilities. For a Conditioned
// belief, belief is its mean.
type problem struct {
	Config
	hyper.Capabilities
	belief hyper.Belief
	z      index.Distribution
	whole  hyper.Conditioned // the belief whose mean is trained; nil for other beliefs
}

func (t Trainer) problem() problem { return newProblem(t.Config, t.Belief) }

func newProblem(c Config, b hyper.Belief) problem {
	c.Loss, c.Optimizer = c.loss(), c.optimizer()
	whole := hyper.CapabilitiesOf(b).Conditioned
	if whole != nil {
		b = whole.Mean()
	}
	return problem{c, hyper.CapabilitiesOf(b), b, b.Index(), whole}
}

// ownIndices reports whether each datum of a step has its own index.
func (c Config) ownIndices() bool { return c.sampled() && c.IndexSet == PerDatum }

// anchors reports whether the regularizer is Anchor. The routes by sums and in closed form support no other
// regularizer.
func (c Config) anchors() bool { return c.Regularize == 0 || c.Regularize == Anchor }

// linearInTheta reports whether the predictions are phi(x)^T theta, prior included.
func (p problem) linearInTheta() bool {
	return p.Linear != nil && p.Parametric != nil && p.Additive == nil
}

// perturbs reports whether indices have perturbations a^T z. Masks, which have mean 1, have none.
func (p problem) perturbs() bool { return p.oneHot() || p.z.Moments().Mean == 0 }

// addedByPrior returns what the prior adds to parameters of the shape of zeros at the indices z, or nil if it adds
// nothing.
func (p problem) addedByPrior(zeros *Node, at hyper.Params, z index.Set) *Node {
	if theta := p.Parametric.Complete(zeros, at, z); theta != zeros {
		return theta
	}
	return nil
}

// sharesLayout reports whether the prior, if there is one, adds a matrix to C that has the layout of C.
func (p problem) sharesLayout() bool {
	_, l := p.Affine.PriorMatrix(hyper.Params{})
	return len(l.Sizes) == 0 || l.Equal(p.Affine.Structure())
}

// coefficients returns mu [runs, N_theta] and the entries of C + D B, for an affine belief whose prior has the layout
// of C.
func (p problem) coefficients(params hyper.Params) (mu, c *Node) {
	mu, c = params.Nu[0], params.Nu[1]
	if db, _ := p.Affine.PriorMatrix(params); db != nil {
		c = Add(c, db)
	}
	return mu, c
}
