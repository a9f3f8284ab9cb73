package train

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Oracle solves a linear-Gaussian problem in closed form, in plain Go and double precision. It gives the point to which
// perturbed SGD should converge, and the posterior that perturbed SGD should approximate. Use it for one run with a
// small N_theta, as a reference in tests, notebooks and figures. The base model is linear in theta, f_theta(x) =
// phi(x)^T theta.
//
// The matrices are as in the paper. Phi and Y must be given, and A for Linear and Ensemble. In the arguments of methods
// nil stands for zeros, except for cov0. No method changes an argument. Errors name the argument with the wrong shape
// or value.
type Oracle struct {
	Phi          mat.Matrix // the rows phi(x_t)^T, T x N_theta; one-hot rows for a tabular base model
	Y            mat.Vector // the responses y_t, T
	A            mat.Matrix // the rows A_t^T, T x N_z; for index.PerArm A_t in the arm's block. Not for Posterior
	NoiseVar     float64    // sigma_w^2
	PriorVar     float64    // sigma_p^2 of the regularizer. Posterior does not need it
	Perturbation float64    // standard deviation of a^T z: sigma_w in the paper
}

// Posterior returns the exact posterior N(mean, cov) of theta under the prior N(mean0, cov0) and the model y_t =
// phi(x_t)^T theta + N(0, sigma_w^2):
//
//	cov  = (cov0^-1 + Phi^T Phi/sigma_w^2)^-1          [N_theta x N_theta]
//	mean = cov (cov0^-1 mean0 + Phi^T y/sigma_w^2)     [N_theta]
//
// A nil mean0 stands for zeros. cov0 must be positive definite.
func (o Oracle) Posterior(mean0 mat.Vector, cov0 mat.Symmetric) (mean *mat.VecDense, cov *mat.SymDense, err error) {
	n, err := o.check(false)
	if err != nil {
		return nil, nil, err
	}
	start, err := shaped("mean0", mean0, n, 1)
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
	right.MulVec(precision, start.ColView(0))
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

// Linear returns the nu = (mu, C) that minimises the loss L(nu, D) of section 2.1 for a linear hypermodel g_nu(z) = mu
// + C z (section 2.3) with C in the layout l, anchored at (mu0, C0), with the additive prior db = D B of section 2.5.
// With theta(z) = mu + (C + DB) z the loss is
//
//	E_z [ 1/(2 sigma_w^2) ||y + s A z - Phi theta(z)||^2 + 1/(2 sigma_p^2) ||mu - mu0 + (C - C0) z||^2 ]
//	s = Perturbation
//
// For every p_z with E z = 0 and E z z^T a multiple of I (index.Gaussian, Sphere, PerArm) it splits into
//
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) mu = Phi^T y/sigma_w^2 + mu0/sigma_p^2
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) C  = Phi^T (s A - Phi DB)/sigma_w^2 + C0/sigma_p^2
//
// where the second equation holds for the entries within the layout, block by block: rows and columns outside the block
// drop out of both sides. C and C0 are full matrices N_theta x N_z that are zero outside the layout (see FullMatrix).
// db is a full matrix too and may have any layout. With Perturbation = sigma_w, the equation of C says that C + DB
// averages the same prior and data as the posterior: (C + DB)(C + DB)^T tends to the posterior covariance as N_z grows.
func (o Oracle) Linear(l hyper.Layout, mu0 mat.Vector, c0, db mat.Matrix) (mu *mat.VecDense, c *mat.Dense, err error) {
	n, err := o.check(true)
	if err == nil {
		err = o.checkLayout(l)
	}
	if err != nil {
		return nil, nil, err
	}
	start, err1 := shaped("mu0", mu0, n, 1)
	anchor, err2 := within(l, "C0", c0)
	prior, err3 := shaped("db", db, n, l.IndexDim())
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, nil, err
	}
	var noise, pull, target mat.Dense
	pull.Mul(o.Phi.T(), o.Y)
	solved, err := o.solve(0, n, &pull, start)
	if err != nil {
		return nil, nil, err
	}
	target.Mul(o.Phi, prior)
	noise.Scale(o.Perturbation, o.A)
	noise.Sub(&noise, &target)
	target.Reset()
	target.Mul(o.Phi.T(), &noise)
	c = mat.NewDense(n, l.IndexDim(), nil)
	return mat.VecDenseCopyOf(solved.ColView(0)), c, blocks(l, func(row, end, from, to int) error {
		block, err := o.solve(row, end, target.Slice(row, end, from, to), anchor.Slice(row, end, from, to))
		if err == nil {
			c.Slice(row, end, from, to).(*mat.Dense).Copy(block)
		}
		return err
	})
}

// Ensemble returns the nu that minimises the loss of section 2.1 for an ensemble (section 2.2). nu is N_theta x N, with
// a column for each particle: the transpose of hyper.Ensemble's node. Particle i has the prior db_i, the perturbations
// s A_ti, and the anchor nu0_i. db and nu0 are N_theta x N, and A is T x N:
//
//	(Phi^T Phi/sigma_w^2 + I/sigma_p^2) nu_i = Phi^T (y + s A_i - Phi db_i)/sigma_w^2 + nu0_i/sigma_p^2
//
// The result is the minimiser of Linear for a dense C anchored at nu0 and a mu anchored at 0, with mu added to each
// column.
func (o Oracle) Ensemble(nu0, db mat.Matrix) (*mat.Dense, error) {
	n, err := o.check(true)
	if err != nil {
		return nil, err
	}
	_, particles := o.A.Dims()
	mu, nu, err := o.Linear(hyper.Dense(n, particles), nil, nu0, db)
	if err != nil {
		return nil, err
	}
	nu.Apply(func(i, _ int, v float64) float64 { return v + mu.AtVec(i) }, nu)
	return nu, nil
}

// solve returns the x with (Phi^T Phi/sigma_w^2 + I/sigma_p^2) x = target/sigma_w^2 + anchor/sigma_p^2, for only the
// parameters from <= i < to.
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

// gram returns Phi^T Phi/sigma_w^2.
func (o Oracle) gram() *mat.SymDense {
	_, n := o.Phi.Dims()
	out := mat.NewSymDense(n, nil)
	out.SymOuterK(1/o.NoiseVar, o.Phi.T())
	return out
}

// check reports wrong shapes and numbers, and returns N_theta. perturbed says whether A and PriorVar are needed.
func (o Oracle) check(perturbed bool) (int, error) {
	if o.Phi == nil || o.Y == nil || perturbed && o.A == nil {
		return 0, errors.New("oracle: Phi and Y must be given; Linear and Ensemble also need A, with a row for each datum")
	}
	t, n := o.Phi.Dims()
	err := faults.Positive("NoiseVar", o.NoiseVar)
	if o.Y.Len() != t {
		err = errors.Join(err, fmt.Errorf("Phi has %d rows, but Y has %d responses", t, o.Y.Len()))
	}
	if !perturbed {
		return n, faults.Prefix("oracle: ", err)
	}
	if rows, _ := o.A.Dims(); rows != t {
		err = errors.Join(err, fmt.Errorf("Phi has %d rows, but A has %d", t, rows))
	}
	return n, faults.Prefix("oracle: ", errors.Join(err, faults.Positive("PriorVar", o.PriorVar)))
}

// checkLayout reports a layout that is invalid, or that does not fit N_theta x N_z matrices.
func (o Oracle) checkLayout(l hyper.Layout) error {
	_, n := o.Phi.Dims()
	_, nz := o.A.Dims()
	if err := l.Validate(); err != nil {
		return faults.Prefix("oracle: ", err)
	}
	if l.Rows() != n || l.IndexDim() != nz {
		return fmt.Errorf("oracle: the layout is %d x %d, but Phi has %d columns and A %d",
			l.Rows(), l.IndexDim(), n, nz)
	}
	return nil
}

// inverse returns the inverse of a positive definite matrix.
func inverse(name string, m mat.Symmetric) (*mat.SymDense, error) {
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return nil, fmt.Errorf("oracle: %s is not positive definite", name)
	}
	out := mat.NewSymDense(m.SymmetricDim(), nil)
	if err := chol.InverseTo(out); err != nil {
		return nil, fmt.Errorf("oracle: %s is nearly singular: %w", name, err)
	}
	return out, nil
}
