package testbed

import (
	"context"
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// exam holds the programs that test a trained agent on one kind of test inputs.
type exam struct {
	testInputs
	trial                *trial
	scorer               scorer
	chunk                int // number of indices in a call; with projection, number of batches
	projected            bool
	draw, predict, score *program
}

// mostExact is the largest tau at which the likelihood is the mean over functions. For larger tau it is a projection.
const mostExact = 10

// classIndices is K, the number of functions of an agent that predict each batch, as in the testbed.
const classIndices = 1000

// chunkName is the name of the chunk number: int32, the chunk of the indices that a call evaluates.
const chunkName = "chunk"

// stream returns the random stream of the test inputs and the indices, from the problems' seeds.
func (e *exam) stream(seeds *Node) rng.Stream { return problemStream(seeds).Named("tests").Step(e.Tau) }

// buildDraw draws the test inputs and computes the truth there. If the indices can be listed, it also computes their
// weights: how often each index occurs among K draws.
func (e *exam) buildDraw(in named[*Node]) named[*Node] {
	seeds := in[seedName]
	s, g := e.stream(seeds), seeds.Graph()
	out := e.scorer.draw(e, in)
	if _, ok := e.trial.finite(); ok {
		drawn := s.Named("z").Intn(Const(g, int32(e.trial.columns())), e.trial.kind.indices())
		out["weights"] = ReduceSum(OneHot(drawn, e.trial.columns(), dtypes.Float32), 1)
	}
	return out
}

// scorer scores functions in one kind of sweep. Test inputs have the name "x"; all else that a kind needs, of the test
// inputs and of the functions so far, has other names.
type scorer interface {
	// draw makes the test inputs, the truth there, and the state before any function.
	draw(e *exam, in named[*Node]) named[*Node]
	// add returns the state after more functions, whose outputs at the test inputs are f [runs, indices, inputs].
	// Weights are as in meanLikelihood.Accumulate.
	add(in named[*Node], f, weights *Node) named[*Node]
	// cost returns the score of each batch, [runs, batches].
	cost(in named[*Node]) *Node
}

// scorer returns the scorer of the kind.
func (k Kind) scorer() scorer {
	switch k {
	case Responses:
		return responseScorer{}
	case Functions:
		return functionScorer{}
	}
	return classScorer{}
}

// indices returns the number of functions of an agent that predict.
func (k Kind) indices() int {
	if k == Classes {
		return classIndices
	}
	return responseIndices
}

// buildPredict adds the predictions of the functions of a chunk of indices. With projection it returns the predictions
// of all functions for a chunk of batches.
func (e *exam) buildPredict(in named[*Node]) named[*Node] {
	if e.projected {
		return e.project(in)
	}
	z, weights := e.indices(in, in[chunkName], e.chunk)
	return e.scorer.add(in, e.trial.learner.At(stateOf(in), z, in["x"]), weights)
}

// project returns the log-likelihoods of a chunk of batches, [runs, batches].
func (e *exam) project(in named[*Node]) named[*Node] {
	seeds, chunk := in[seedName], in[chunkName]
	all := drawn(in)
	rows := func(x *Node, n int) *Node { // n rows of each batch of the chunk
		return rowsOf(Reshape(x, x.Shape().Dim(0), e.Batches*n, -1), chunk, e.chunk*n)
	}
	d := drawnTests{X: rows(all.X, e.Distinct()), Ones: rows(all.Ones, 1), Zeros: rows(all.Zeros, 1)}
	z, weights := e.indices(in, Const(seeds.Graph(), int32(0)), e.trial.columns())
	f := e.trial.learner.At(stateOf(in), z, d.X)
	s := e.stream(seeds).Named("projection").At(chunk)
	return named[*Node]{"ll": projection(s, d, f, weights)}
}

// indices returns the n indices of a chunk, and their weights [runs, indices], or nil weights.
func (e *exam) indices(in named[*Node], chunk *Node, n int) (z index.Set, weights *Node) {
	seeds := in[seedName]
	finite, ok := e.trial.finite()
	if !ok {
		return e.trial.learner.Belief.Index().Sample(e.stream(seeds).Named("z").At(chunk), n), nil
	}
	weights = in["weights"]
	all := finite.All(seeds.Graph(), seeds.Shape().Dim(0))
	if n == finite.Dim() {
		return all, weights
	}
	part := func(x *Node) *Node { return columnsOf(x, chunk, n) }
	return all.Part(part), part(weights)
}

// columnsOf returns the n columns of x [runs, columns] that belong to the chunk: [runs, n].
func columnsOf(x, chunk *Node, n int) *Node { return Squeeze(rowsOf(InsertAxes(x, -1), chunk, n), 2) }

// rowsOf returns the n rows of x [runs, rows, columns] that belong to the chunk: [runs, n, columns].
func rowsOf(x, chunk *Node, n int) *Node {
	at := Add(Iota(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dim(0), n), 1), MulScalar(chunk, int32(n)))
	return row.Take(x, at)
}

// buildScore computes the divergence of each problem and its standard error over the batches. For single classes it also
// computes accuracy and calibration error.
func (e *exam) buildScore(in named[*Node]) named[*Node] {
	mean, se := meanOf(e.scorer.cost(in))
	out := named[*Node]{klName: mean, seName: se}
	if e.trial.kind == Classes && e.Tau == 1 {
		out[accuracyName], out[eceName] = calibration(mixture(in).Mean())
	}
	return out
}

// Names of a problem's scores, each float32 [runs].
const (
	klName       = "kl"
	seName       = "se"
	accuracyName = "accuracy"
	eceName      = "ece"
)

// run tests the trained agent on problems, and returns the scores of each problem.
func (e *exam) run(ctx context.Context, args, state named[*tensors.Tensor]) (out problemScores, err error) {
	e.chunk = e.chunkOf(args[seedName].Shape().Dim(0))
	of := args.without("in.", "data.")
	if theta := state[thetaName]; theta != nil {
		of[thetaName] = theta
	}
	tests, err := e.draw.call(of)
	if err != nil {
		return nil, err
	}
	defer release(tests)
	ask := func(chunk int) (named[*tensors.Tensor], error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now := maps.Clone(tests)
		maps.Copy(now, state)
		delete(now, thetaName)
		now[seedName], now[chunkName] = args[seedName], tensors.FromValue(int32(chunk))
		return e.predict.call(now)
	}
	if e.projected {
		if tests["ll"], err = e.projections(ask); err != nil {
			return nil, err
		}
	} else {
		for chunk := range e.trial.columns() / e.chunk {
			next, err := ask(chunk)
			if err != nil {
				return nil, err
			}
			for name, x := range next {
				tests[name].MustFinalizeAll()
				tests[name] = x
			}
		}
	}
	scores, err := e.score.call(tests)
	if err != nil {
		return nil, err
	}
	defer release(scores)
	out = problemScores{}
	for name, x := range scores {
		if out[name], err = tensors.CopyFlatData[float32](x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// projections joins the log-likelihoods of chunks of batches, [runs, batches].
func (e *exam) projections(ask func(chunk int) (named[*tensors.Tensor], error)) (*tensors.Tensor, error) {
	var all [][]float32 // by run
	for chunk := range e.Batches / e.chunk {
		next, err := ask(chunk)
		if err != nil {
			return nil, err
		}
		ll, err := tensors.CopyFlatData[float32](next["ll"])
		release(next)
		if err != nil {
			return nil, err
		}
		for run := range len(ll) / e.chunk {
			if chunk == 0 {
				all = append(all, nil)
			}
			all[run] = append(all[run], ll[run*e.chunk:][:e.chunk]...)
		}
	}
	return tensors.FromValue(all), nil
}
