package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
)

// Oracle solves a linear-Gaussian problem in closed form, in plain Go and double precision: what perturbed SGD should
// converge to, and the posterior that it should approximate. It is for one run, small N_theta, and yardsticks: tests,
// notebooks, figures. The base model is linear in theta, f_theta(x) = phi(x)^T theta.
//
// Matrices are those of the paper: nil stands for zeros, and the methods change none of their arguments. Errors name
// the argument whose shape or value is wrong.
type Oracle struct {
	Phi          mat.Matrix // the rows phi(x_t)^T, T x N_theta; see ArmRows for a tabular base model
	Y            mat.Vector // the responses y_t, T
	A            mat.Matrix // the rows A_t^T, T x N_z; see ArmBlocks for index.PerArm. Posterior does not need it
	NoiseVar     float64    // sigma_w^2
	PriorVar     float64    // sigma_p^2, of the regulariser. Posterior does not need it
	Perturbation float64    // standard deviation of a^T z: sigma_w in the paper
}

// Posterior returns the exact posterior N(mean, cov) of theta under the prior N(mean0, cov0) and the model
// y_t = phi(x_t)^T theta + N(0, sigma_w^2):
//
//	cov  = (cov0^-1 + Phi^T Phi/sigma_w^2)^-1          [N_theta x N_theta]
//	mean = cov (cov0^-1 mean0 + Phi^T y/sigma_w^2)     [N_theta]
//
// A nil mean0 is zero. cov0 must be positive definite.
func (o Oracle) Posterior(mean0 mat.Vector, cov0 mat.Symmetric) (mean *mat.VecDense, cov *mat.SymDense, err error) {
	n, err := o.check(false)
	if err != nil {
		return nil, nil, err
	}
	start, err := column("mean0", mean0, n)
	if err != nil {
		return nil, nil, err
	}
	if cov0 == nil || cov0.SymmetricDim() != n {
		return nil, nil, fmt.Errorf("oracle: cov0 must be %d x %d, one row for each parameter", n, n)
	}
	precision, err := inverse("the prior covariance cov0", cov0)
	if err != nil {
		return nil, nil, err
	}
	var right, pull mat.VecDense
	right.MulVec(precision, start)
	pull.MulVec(o.Phi.T(), o.Y)
	right.AddScaledVec(&right, 1/o.NoiseVar, &pull)
	precision.AddSym(precision, o.gram())
	if cov, err = inverse("the posterior precision", precision); err != nil {
		return nil, nil, err
	}
	mean = mat.NewVecDense(n, nil)
	mean.MulVec(cov, &right)
	return mean, cov, nil
}

// Linear returns the nu = (mu, C) that minimises the loss L(nu, D) of section 2.1 for a linear hypermodel
// g_nu(z) = mu + C z (section 2.3) with C in the layout l, anchored at (mu0, C0), with the additive prior db = D B of
// section 2.5. With theta(z) = mu + (C + DB) z the loss is
//
//	E_z [ 1/(2 sigma_w^2) ||y + s A z - Phi theta(z)||^2 + 1/(2 sigma_p^2) ||mu - mu0 + (C - C0) z||^2 ]
//	s = Perturbation
//
// For every p_z with E z = 0 and E z z^T a multiple of I (index.Gaussian, Sphere, PerArm) it splits into
//
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) mu = Phi^T y/sigma_w^2 + mu0/sigma_p^2
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) C  = Phi^T (s A - Phi DB)/sigma_w^2 + C0/sigma_p^2
//
// where the second holds for the entries within the layout, block by block: rows and columns outside the block drop out
// of both sides. C, C0 and db are full matrices N_theta x N_z, zero outside the layout (see Entries); db may have
// any layout. The equation of C with Perturbation = sigma_w says that C + DB averages the same prior and data that the
// posterior does: (C + DB)(C + DB)^T tends to its covariance as N_z grows.
func (o Oracle) Linear(l hyper.Layout, mu0 mat.Vector, c0, db mat.Matrix) (mu *mat.VecDense, c *mat.Dense, err error) {
	n, err := o.check(true)
	if err != nil {
		return nil, nil, err
	}
	_, nz := o.A.Dims()
	if err := checkLayout(l, n, nz); err != nil {
		return nil, nil, err
	}
	start, err := column("mu0", mu0, n)
	if err != nil {
		return nil, nil, err
	}
	anchor, err := within(l, "C0", c0)
	if err != nil {
		return nil, nil, err
	}
	target, err := o.target(db, n, nz)
	if err != nil {
		return nil, nil, err
	}
	pull := mat.NewDense(n, 1, nil)
	pull.Mul(o.Phi.T(), o.Y)
	solved, err := o.solve(0, n, pull, start)
	if err != nil {
		return nil, nil, err
	}
	c, row := mat.NewDense(n, nz, nil), 0
	for b, size := range l.Sizes {
		end, from, to := row+size, b*l.Width, (b+1)*l.Width
		block, err := o.solve(row, end, target.Slice(row, end, from, to), anchor.Slice(row, end, from, to))
		if err != nil {
			return nil, nil, err
		}
		c.Slice(row, end, from, to).(*mat.Dense).Copy(block)
		row = end
	}
	return mat.VecDenseCopyOf(solved.ColView(0)), c, nil
}

// checkLayout reports a layout that is wrong, or not one of n x nz matrices.
func checkLayout(l hyper.Layout, n, nz int) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	if l.Rows() != n || l.IndexDim() != nz {
		return fmt.Errorf("oracle: the layout is %d x %d, but Phi has %d columns and A %d",
			l.Rows(), l.IndexDim(), n, nz)
	}
	return nil
}

// Ensemble returns the nu that minimises the loss of section 2.1 for an ensemble (section 2.2), N_theta x N with a
// column for each particle, the transpose of hyper.Ensemble's node. Particle i has the prior db_i, the perturbations
// s A_ti, and the anchor nu0_i, all N_theta x N (A is T x N):
//
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) nu_i = Phi^T (y + s A_i - Phi db_i)/sigma_w^2 + nu0_i/sigma_p^2
func (o Oracle) Ensemble(nu0, db mat.Matrix) (*mat.Dense, error) {
	n, err := o.check(true)
	if err != nil {
		return nil, err
	}
	t, particles := o.A.Dims()
	anchor, err := full("nu0", nu0, n, particles)
	if err != nil {
		return nil, err
	}
	target, err := o.target(db, n, particles)
	if err != nil {
		return nil, err
	}
	same := mat.NewDense(t, particles, nil) // the response of every particle
	same.Apply(func(i, _ int, _ float64) float64 { return o.Y.AtVec(i) }, same)
	var pull mat.Dense
	pull.Mul(o.Phi.T(), same)
	target.Add(target, &pull)
	return o.solve(0, n, target, anchor)
}

// target is Phi^T (s A - Phi db), N_theta x N_z.
func (o Oracle) target(db mat.Matrix, n, nz int) (*mat.Dense, error) {
	prior, err := full("db", db, n, nz)
	if err != nil {
		return nil, err
	}
	var noise, shift, out mat.Dense
	noise.Scale(o.Perturbation, o.A)
	shift.Mul(o.Phi, prior)
	noise.Sub(&noise, &shift)
	out.Mul(o.Phi.T(), &noise)
	return &out, nil
}

// solve returns the x with (Phi^T Phi/sigma_w^2 + I/sigma_p^2) x = target/sigma_w^2 + anchor/sigma_p^2, for the
// parameters from <= i < to alone.
func (o Oracle) solve(from, to int, target, anchor mat.Matrix) (*mat.Dense, error) {
	h := mat.NewSymDense(to-from, nil)
	h.CopySym(o.gram().SliceSym(from, to))
	for i := range to - from {
		h.SetSym(i, i, h.At(i, i)+1/o.PriorVar)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, fmt.Errorf("oracle: Phi^T Phi/sigma_w^2 + I/sigma_p^2 is not positive definite in double "+
			"precision; is sigma_w^2 (%g) far too small, or sigma_p^2 (%g) far too large?", o.NoiseVar, o.PriorVar)
	}
	var right, pull, x mat.Dense
	right.Scale(1/o.NoiseVar, target)
	pull.Scale(1/o.PriorVar, anchor)
	right.Add(&right, &pull)
	if err := chol.SolveTo(&x, &right); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	return &x, nil
}

// gram is Phi^T Phi/sigma_w^2.
func (o Oracle) gram() *mat.SymDense {
	_, n := o.Phi.Dims()
	out := mat.NewSymDense(n, nil)
	out.SymOuterK(1/o.NoiseVar, o.Phi.T())
	return out
}

// check reports shapes and numbers that are wrong, and returns N_theta. perturbed says whether A and PriorVar matter.
func (o Oracle) check(perturbed bool) (int, error) {
	if o.Phi == nil || o.Y == nil {
		return 0, fmt.Errorf("oracle: Phi and Y are needed")
	}
	t, n := o.Phi.Dims()
	if o.Y.Len() != t {
		return 0, fmt.Errorf("oracle: Phi has %d rows, but Y has %d responses", t, o.Y.Len())
	}
	if !(o.NoiseVar > 0) || math.IsInf(o.NoiseVar, 1) {
		return 0, fmt.Errorf("oracle: NoiseVar must be positive and finite, got %g", o.NoiseVar)
	}
	if !perturbed {
		return n, nil
	}
	if !(o.PriorVar > 0) || math.IsInf(o.PriorVar, 1) {
		return 0, fmt.Errorf("oracle: PriorVar must be positive and finite, got %g", o.PriorVar)
	}
	if o.A == nil {
		return 0, fmt.Errorf("oracle: A is needed, a row for each of %d data", t)
	}
	if rows, _ := o.A.Dims(); rows != t {
		return 0, fmt.Errorf("oracle: Phi has %d rows, but A has %d", t, rows)
	}
	return n, nil
}
