package testbed

import (
	"cmp"
	"errors"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// LogisticProblem is the example of "Evaluating high-order predictive distributions in deep learning" (UAI 2022,
// figures 1 and 2), in which nothing is learned: logistic regression with log odds phi^T x / rho, rho = 0.01. phi is drawn from
// N(0, I), anew for each batch. (The paper's text multiplies by rho; its figures divide.) Three agents know that
// distribution:
//
//   - uniform gives both classes one half;
//   - prior draws one phi for all inputs of a batch, from a sample of 10,000: it knows how its predictions depend
//     on each other;
//   - marginal draws a new phi for each class, so that its joint probabilities are products of prior's probabilities of
//     single classes. Since phi and -phi are equally likely, these are one half. But for sampling error, marginal
//     equals uniform.
type LogisticProblem struct {
	Inputs  int // D
	Anchors int // of the test inputs, of which each batch has ten; see testInputs
	Batches int // 0 is 400
	Seed    uint64
}

// Divergence is the divergence of an agent and its standard error, in nats.
type Divergence struct{ Mean, StdErr float64 }

func (d Divergence) String() string { return fmt.Sprintf("%.2f +- %.2f", d.Mean, d.StdErr) }

// LogisticRow holds the divergences of the three agents.
type LogisticRow struct{ Uniform, Prior, Marginal Divergence }

func (c LogisticProblem) tests() testInputs {
	return testInputs{Batches: cmp.Or(c.Batches, 400), Tau: 10, Anchors: c.Anchors}
}

// Validate reports every number that is out of its range.
func (c LogisticProblem) Validate() error {
	return faults.Prefix("testbed.LogisticProblem: ", errors.Join(faults.AtLeast("Inputs", c.Inputs, 1),
		faults.AtLeast("Anchors", c.Anchors, 0), faults.AtLeast("Batches", c.Batches, 0),
		faults.Size("the test inputs", c.tests().Batches, 10, max(c.Inputs, 1))))
}

// LogisticRegression evaluates the three agents on a backend. For the backend's name see [backend.Open].
func LogisticRegression(c LogisticProblem, backendName string) (LogisticRow, error) {
	if err := c.Validate(); err != nil {
		return LogisticRow{}, err
	}
	row, err := c.run(backendName)
	if err != nil {
		return row, fmt.Errorf("testbed.LogisticRegression: %w", err)
	}
	return row, nil
}

// run draws the tests, adds up the agents' predictions chunk by chunk, and compares them to the truth.
func (c LogisticProblem) run(backendName string) (LogisticRow, error) {
	b, err := backend.Open(backendName)
	if err != nil {
		return LogisticRow{}, err
	}
	seed := []uint64{c.Seed}
	sums, err := CallOnceN(b, func(in []*Node) []*Node { return c.start(rng.New(in[0])).nodes() }, seed)
	if err != nil {
		return LogisticRow{}, err
	}
	add, err := NewExec(b, func(in []*Node) []*Node {
		return c.add(rng.New(in[0]), in[1], logisticOf(in[2:])).nodes()
	})
	if err != nil {
		return LogisticRow{}, err
	}
	defer add.Finalize()
	for from := 0; from < logisticSamples; from += logisticChunk {
		args := []any{seed, int32(from)}
		for _, sum := range sums {
			args = append(args, sum)
		}
		if sums, err = add.Call(args...); err != nil {
			return LogisticRow{}, err
		}
	}
	return c.compare(b, sums)
}

// The number of phi, and the number of these that are evaluated at once.
const (
	logisticSamples = 10_000
	logisticChunk   = 500
)

// logisticSums holds the tests, and the sums over the phi so far. ones and zeros are the sums of the probabilities of
// the two classes at each input, [1, batches * distinct].
type logisticSums struct {
	drawnTests
	meanLikelihood
	ones, zeros *Node
}

func (l logisticSums) nodes() []*Node {
	return []*Node{l.X, l.Truth, l.drawnTests.Ones, l.drawnTests.Zeros, l.Top, l.Sum, l.Weight, l.ones, l.zeros}
}

func logisticOf(n []*Node) logisticSums {
	return logisticSums{drawnTests{n[0], n[1], n[2], n[3]}, meanLikelihood{n[4], n[5], n[6]}, n[7], n[8]}
}

// start draws a truth and the inputs of each batch, for one run.
func (c LogisticProblem) start(s rng.Stream) logisticSums {
	t := c.tests()
	x := s.Named("x").Normal(t.Batches, t.Distinct(), c.Inputs)
	truth := Einsum("rbid,rbd->rbi", x, s.Named("truth").Normal(t.Batches, c.Inputs))
	truth = logit(Reshape(truth, 1, t.Batches*t.Distinct()))
	d := t.Classes(s.Named("classes"), Reshape(x, 1, t.Batches*t.Distinct(), c.Inputs), truth)
	return logisticSums{d, newMeanLikelihood(s.Graph(), 1, t.Batches), ZerosLike(truth), ZerosLike(truth)}
}

// logit returns the log odds of an inner product phi^T x, for rho = 0.01.
func logit(product *Node) *Node { return DivScalar(product, 0.01) }

// add evaluates a chunk of phi, beginning with number from.
func (c LogisticProblem) add(s rng.Stream, from *Node, l logisticSums) logisticSums {
	phi := s.Named("phi").At(from).Normal(logisticChunk, c.Inputs)
	f := logit(Einsum("rkd,rid->rki", phi, l.X))
	sum := func(f *Node) *Node { return ReduceSum(Sigmoid(f), 1) }
	return logisticSums{l.drawnTests, l.Accumulate(l.LogLikelihood(f), nil), Add(l.ones, sum(f)), Add(l.zeros, sum(Neg(f)))}
}

// compare returns the agents' divergences.
func (c LogisticProblem) compare(b compute.Backend, sums []*tensors.Tensor) (LogisticRow, error) {
	var args []any
	for _, sum := range sums {
		args = append(args, sum)
	}
	out, err := CallOnceN(b, func(in []*Node) (all []*Node) {
		l := logisticOf(in)
		for _, ll := range []*Node{l.Uniform(), l.Mean(), l.marginal()} {
			mean, se := l.Divergence(ll)
			all = append(all, mean, se)
		}
		return all
	}, args...)
	if err != nil {
		return LogisticRow{}, err
	}
	of := func(i int) Divergence {
		number := func(i int) float64 { return float64(tensors.MustCopyFlatData[float32](out[i])[0]) }
		return Divergence{number(2 * i), number(2*i + 1)}
	}
	return LogisticRow{Uniform: of(0), Prior: of(1), Marginal: of(2)}, nil
}

// marginal returns the log-likelihood of each batch by the products of mean probabilities, [1, batches].
func (l logisticSums) marginal() *Node {
	of := func(counts, sum *Node) *Node {
		mean := Reshape(Div(sum, InsertAxes(l.Weight, -1)), counts.Shape().Dimensions...)
		return Mul(counts, Log(mean))
	}
	return ReduceSum(Add(of(l.drawnTests.Ones, l.ones), of(l.drawnTests.Zeros, l.zeros)), 2)
}
