package hyper

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Ensemble is the ensemble hypermodel g_nu(z) = nu z with one-hot z (section 2.2). Each index is a particle: a separate
// base model. nu is one node, [runs, Particles, N_theta].
type Ensemble struct {
	Particles int
	Params    int // N_theta
	// InitNu draws the particles. nil means the default of [Model.Init]: with an additive prior particles start at 0,
	// except for the hidden layers of a network, which are drawn for each particle; without one, particles are draws
	// from a prior.
	InitNu Initializer
}

var _ Hypermodel = Ensemble{}

// Validate reports sizes that are not positive, or too large.
func (h Ensemble) Validate() error {
	err := errors.Join(faults.AtLeast("Particles", h.Particles, 1), faults.AtLeast("Params", h.Params, 1))
	if err == nil {
		err = faults.Size("Particles x Params", h.Particles, h.Params)
	}
	return faults.Prefix("hyper.Ensemble: ", err)
}

func (h Ensemble) Index() index.Distribution { return index.OneHot{N: h.Particles} }
func (h Ensemble) NumParticles() int         { return h.Particles }
func (h Ensemble) NumTheta() int             { return h.Params }
func (h Ensemble) NumInvolved() int          { return h.Params }

// startIn sets a nil InitNu. Without an additive prior, particles are draws from a prior.
func (h Ensemble) startIn(m Model, scale *Node) Hypermodel {
	switch {
	case h.InitNu != nil:
	case m.Prior != nil:
		h.InitNu = m.centre()
	default:
		d, output := m.deviations(m.Base, Layout{})
		h.InitNu = initDeviations(d, output, scale)
	}
	return h
}

// Init draws every particle independently. It does not know the model: here a nil InitNu means InitNormal(0.05).
func (h Ensemble) Init(s rng.Stream) []*Node {
	init := h.InitNu
	if init == nil {
		init = InitNormal(0.05)
	}
	return []*Node{init(s.Named("nu"), 1, h.Params, h.Particles, h.Params)}
}

// Theta returns the particles that the indices identify, [runs, n, N_theta].
func (h Ensemble) Theta(nu []*Node, z index.Set) *Node {
	if z.ID == nil {
		return Einsum("rnz,rzp->rnp", z.Dense(), nu[0])
	}
	return takeRows(nu[0], z)
}

// takeRows returns the rows of m [runs, N, columns] at one-hot indices, [runs, n, columns].
func takeRows(m *Node, z index.Set) *Node {
	if z.Every {
		return m
	}
	return row.Take(m, z.ID)
}
