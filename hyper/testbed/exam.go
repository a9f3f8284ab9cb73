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
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Indices is K, how many functions of an agent predict each batch: the testbed's.
const Indices = 1000

// chunkName is which chunk of the indices a call evaluates, int32.
const chunkName = "chunk"

// stream is that of the test inputs and the indices of the problems' seeds.
func (e *exam) stream(seeds *Node) rng.Stream { return problemStream(seeds).Named("tests").Step(e.Tau) }

// buildDraw makes the test inputs and what the truth says there, and the weights of the indices where these can be
// listed: how often each comes among K that are drawn.
func (e *exam) buildDraw(in named[*Node]) named[*Node] {
	seeds := in[seedName]
	s, g := e.stream(seeds), seeds.Graph()
	out := e.marks.draw(e, in)
	if _, ok := e.trial.finite(); ok {
		drawn := s.Named("z").Intn(Const(g, int32(e.trial.columns())), e.trial.kind.indices())
		out["weights"] = ReduceSum(OneHot(drawn, e.trial.columns(), dtypes.Float32), 1)
	}
	return out
}

// marks is how a kind of sweep scores functions. Test inputs are "x", what else it needs of them and of the functions
// so far has other names.
type marks interface {
	// draw makes the test inputs, what the truth says there, and what is known of no function.
	draw(e *exam, in named[*Node]) named[*Node]
	// add makes what is known with more functions, which are f [runs, indices, inputs] at the test inputs. Weights are
	// those of [Mixture.Accumulate].
	add(in named[*Node], f, weights *Node) named[*Node]
	// cost is the score of each batch, [runs, batches].
	cost(in named[*Node]) *Node
}

// marks are those of the kind.
func (k Kind) marks() marks {
	switch k {
	case Responses:
		return ofResponses{}
	case Functions:
		return ofFunctions{}
	}
	return ofClasses{}
}

// indices is how many functions of an agent are asked.
func (k Kind) indices() int {
	if k == Classes {
		return Indices
	}
	return RegressionIndices
}

// ofClasses are the marks of [Classes]: the log-likelihood of tau classes together.
type ofClasses struct{}

func (ofClasses) draw(e *exam, in named[*Node]) named[*Node] {
	s := e.stream(in[seedName])
	d := e.Draw(s, e.trial.env, in[thetaName], in[rhoName])
	out := named[*Node]{"x": d.X, "truth": d.Truth, "ones": d.Ones, "zeros": d.Zeros}
	if !e.projected {
		out.add("mixture.", NewMixture(s.Graph(), s.Runs(), e.Batches).nodes())
	}
	return out
}

func (ofClasses) add(in named[*Node], f, weights *Node) named[*Node] {
	out := named[*Node]{}
	out.add("mixture.", mixture(in).Accumulate(drawn(in).LogLikelihood(f), weights).nodes())
	return out
}

func (ofClasses) cost(in named[*Node]) *Node {
	ll := in["ll"] // by projection
	if ll == nil {
		ll = mixture(in).Mean()
	}
	return drawn(in).less(ll)
}

// drawn are the test inputs that buildDraw made.
func drawn(in named[*Node]) Drawn {
	return Drawn{X: in["x"], Truth: in["truth"], Ones: in["ones"], Zeros: in["zeros"]}
}

func (m Mixture) nodes() map[string]*Node {
	return map[string]*Node{"top": m.Top, "sum": m.Sum, "weight": m.Weight}
}

func mixture(in named[*Node]) Mixture {
	return Mixture{Top: in["mixture.top"], Sum: in["mixture.sum"], Weight: in["mixture.weight"]}
}

// buildAnswer adds what the functions of a chunk of indices say; or it is what all say of a chunk of batches, by
// projection.
func (e *exam) buildAnswer(in named[*Node]) named[*Node] {
	if e.projected {
		return e.project(in)
	}
	z, weights := e.indices(in)
	return e.marks.add(in, e.trial.learner.At(train.State(in.part("agent.")), z, in["x"]), weights)
}

// project makes the log-likelihoods of a chunk of batches, [runs, batches].
func (e *exam) project(in named[*Node]) named[*Node] {
	seeds, chunk := in[seedName], in[chunkName]
	all := drawn(in)
	rows := func(x *Node, n int) *Node { // of the batches, n each
		return rowsOf(Reshape(x, x.Shape().Dim(0), e.Batches*n, -1), chunk, e.chunk*n)
	}
	d := Drawn{X: rows(all.X, e.Distinct()), Ones: rows(all.Ones, 1), Zeros: rows(all.Zeros, 1)}
	var z index.Set
	if finite, ok := e.trial.finite(); ok {
		z = finite.All(seeds.Graph(), seeds.Shape().Dim(0))
	} else {
		z = e.trial.learner.Belief.Index().Sample(e.stream(seeds).Named("z").At(Const(seeds.Graph(), int32(0))), Indices)
	}
	f := e.trial.learner.At(train.State(in.part("agent.")), z, d.X)
	s := e.stream(seeds).Named("projection").At(chunk)
	return named[*Node]{"ll": Projection{}.LogLikelihood(s, d, f, in["weights"])}
}

// indices are those of a chunk, with their weights, [runs, indices], or nil.
func (e *exam) indices(in named[*Node]) (z index.Set, weights *Node) {
	seeds, chunk := in[seedName], in[chunkName]
	finite, ok := e.trial.finite()
	if !ok {
		return e.trial.learner.Belief.Index().Sample(e.stream(seeds).Named("z").At(chunk), e.chunk), nil
	}
	weights = in["weights"]
	all := finite.All(seeds.Graph(), seeds.Shape().Dim(0))
	if e.chunk == finite.Dim() {
		return all, weights
	}
	part := func(x *Node) *Node { return columnsOf(x, chunk, e.chunk) }
	return all.Part(part), part(weights)
}

// columnsOf returns the chunk-th n columns of x [runs, columns]: [runs, n].
func columnsOf(x, chunk *Node, n int) *Node { return Squeeze(rowsOf(InsertAxes(x, -1), chunk, n), 2) }

// rowsOf returns the chunk-th n rows of x [runs, rows, columns]: [runs, n, columns].
func rowsOf(x, chunk *Node, n int) *Node {
	at := Add(Iota(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dim(0), n), 1), MulScalar(chunk, int32(n)))
	return row.Take(x, at)
}

// buildMark makes the divergence of each problem, with its standard error over the batches; of single classes accuracy
// and calibration error, too.
func (e *exam) buildMark(in named[*Node]) named[*Node] {
	mean, se := meanOf(e.marks.cost(in))
	out := named[*Node]{klName: mean, seName: se}
	if e.trial.kind == Classes && e.Tau == 1 {
		out[accuracyName], out[eceName] = Calibration(mixture(in).Mean())
	}
	return out
}

// Names of scores of a problem, each float32 [runs].
const (
	klName       = "kl"
	seName       = "se"
	accuracyName = "accuracy"
	eceName      = "ece"
)

// take tests what was learned of problems: the marks of each.
func (e *exam) take(ctx context.Context, args, state named[*tensors.Tensor]) (marks marked, err error) {
	e.chunk = e.chunkOf(args[seedName].Shape().Dim(0))
	of := args.without("in.", "data.")
	if theta := state[thetaName]; theta != nil {
		of[thetaName] = theta
	}
	paper, err := e.draw.call(of)
	if err != nil {
		return nil, err
	}
	defer func() { release(paper) }()
	ask := func(chunk int) (named[*tensors.Tensor], error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now := maps.Clone(paper)
		maps.Copy(now, state)
		delete(now, thetaName)
		now[seedName], now[chunkName] = args[seedName], tensors.FromValue(int32(chunk))
		return e.answer.call(now)
	}
	if e.projected {
		if paper["ll"], err = e.projections(ask); err != nil {
			return nil, err
		}
	} else {
		for chunk := range e.trial.columns() / e.chunk {
			next, err := ask(chunk)
			if err != nil {
				return nil, err
			}
			for name, x := range next {
				paper[name].MustFinalizeAll()
				paper[name] = x
			}
		}
	}
	scores, err := e.mark.call(paper)
	if err != nil {
		return nil, err
	}
	defer release(scores)
	marks = marked{}
	for name, x := range scores {
		if marks[name], err = tensors.CopyFlatData[float32](x); err != nil {
			return nil, err
		}
	}
	return marks, nil
}

// projections joins what is said of chunks of batches, [runs, batches].
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
