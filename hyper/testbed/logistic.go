package testbed

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// LogisticProblem is the example of "Evaluating high-order predictive distributions in deep learning" (UAI 2022,
// figures 1 and 2), in which nothing is learned: logistic regression with log odds phi^T x / rho, where rho = 0.01. phi
// is drawn from N(0, I), anew for each batch. (The paper's text multiplies by rho; its figures divide.) Three agents
// know that distribution:
//
//   - uniform gives both classes one half;
//   - prior draws one phi for all inputs of a batch, from a sample of 10,000: it knows how its predictions depend on
//     each other;
//   - marginal draws a new phi for each class, so that its joint probabilities are products of prior's probabilities of
//     single classes. Since phi and -phi are equally likely, these are one half. But for sampling error, marginal
//     equals uniform.
type LogisticProblem struct {
	Inputs  int // D
	Anchors int // number of different inputs among the ten of a batch; 0 means ten independent inputs
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

// The number of phi, and the number of these that are evaluated at once.
const (
	logisticSamples = 10_000
	logisticChunk   = 500
)

// run draws the tests, adds up the agents' predictions chunk by chunk, and compares them to the truth.
func (c LogisticProblem) run(backendName string) (LogisticRow, error) {
	b, err := backend.Open(backendName)
	if err != nil {
		return LogisticRow{}, err
	}
	seed := tensors.FromValue([]uint64{c.Seed})
	state, err := newProgram(b, c.buildStart).call(named[*tensors.Tensor]{seedName: seed})
	add := newProgram(b, c.buildAdd)
	for from := 0; from < logisticSamples && err == nil; from += logisticChunk {
		state[seedName], state["from"] = seed, tensors.FromValue(int32(from))
		state, err = add.call(state)
	}
	if err != nil {
		return LogisticRow{}, err
	}
	out, err := newProgram(b, buildDivergences).call(state)
	if err != nil {
		return LogisticRow{}, err
	}
	of := func(agent string) Divergence {
		number := func(name string) float64 { return float64(tensors.MustCopyFlatData[float32](out[name])[0]) }
		return Divergence{number(agent), number(agent + ", error")}
	}
	return LogisticRow{Uniform: of("uniform"), Prior: of("prior"), Marginal: of("marginal")}, nil
}

// logit returns the log odds of an inner product phi^T x, for rho = 0.01.
func logit(product *Node) *Node { return DivScalar(product, 0.01) }

// buildStart draws a truth and the inputs of each batch, for one run. It returns the tests, "mixture.*" without any
// phi, and the sums over phi of the probabilities of the two classes at each input, "sum.ones" and "sum.zeros",
// [1, batches * distinct].
func (c LogisticProblem) buildStart(in named[*Node]) named[*Node] {
	s, t := rng.New(in[seedName]), c.tests()
	x := s.Named("x").Normal(t.Batches, t.Distinct(), c.Inputs)
	truth := Einsum("rbid,rbd->rbi", x, s.Named("truth").Normal(t.Batches, c.Inputs))
	truth = logit(Reshape(truth, 1, t.Batches*t.Distinct()))
	out := t.Classes(s.Named("classes"), Reshape(x, 1, t.Batches*t.Distinct(), c.Inputs), truth).nodes()
	maps.Copy(out, newMeanLikelihood(s.Graph(), 1, t.Batches).nodes())
	out["sum.ones"], out["sum.zeros"] = ZerosLike(truth), ZerosLike(truth)
	return out
}

// buildAdd evaluates a chunk of phi, beginning with number "from".
func (c LogisticProblem) buildAdd(in named[*Node]) named[*Node] {
	phi := rng.New(in[seedName]).Named("phi").At(in["from"]).Normal(logisticChunk, c.Inputs)
	d := drawn(in)
	f := logit(Einsum("rkd,rid->rki", phi, d.X))
	out := d.nodes()
	maps.Copy(out, mixture(in).Accumulate(d.LogLikelihood(f), nil).nodes())
	out["sum.ones"] = Add(in["sum.ones"], ReduceSum(Sigmoid(f), 1))
	out["sum.zeros"] = Add(in["sum.zeros"], ReduceSum(Sigmoid(Neg(f)), 1))
	return out
}

// buildDivergences returns the agents' divergences, and their standard errors.
func buildDivergences(in named[*Node]) named[*Node] {
	d, out := drawn(in), named[*Node]{}
	// The log-likelihood of marginal, from the products of mean probabilities.
	part := func(counts, sum *Node) *Node {
		return Mul(counts, Log(Reshape(DivScalar(sum, logisticSamples), counts.Shape().Dimensions...)))
	}
	marginal := ReduceSum(Add(part(d.Ones, in["sum.ones"]), part(d.Zeros, in["sum.zeros"])), 2)
	out["uniform"], out["uniform, error"] = d.Divergence(d.Uniform())
	out["prior"], out["prior, error"] = d.Divergence(mixture(in).Mean())
	out["marginal"], out["marginal, error"] = d.Divergence(marginal)
	return out
}
