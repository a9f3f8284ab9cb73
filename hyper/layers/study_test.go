package layers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	rand1 "math/rand"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/layers"
)

var studyServe = flag.Bool("study.serve", false, "TestStudy trains what enn.py asks for, on the standard input")

// Sizes of the study; notebooks/results/layers/README.md is its protocol, and enn.py has the same sizes.
const (
	studySteps, studyWarm  = 500, 50 // the first steps are not timed
	studyBatch, studyRate  = 32, 0.002
	studyDim, studyIndices = 8, 8 // of the index, and in a training step
	studyParticles         = 10
	studySamples, studyTau = 100, 10
)

// studySet is a data set of the study: the rows of a built-in table, by their hashes. The last ones are the test data.
// A seed takes n of the others for training. The rest of them is the validation data of a search.
type studySet struct {
	table       string
	tests, n    int
	standardize bool
}

var studySets = map[string]studySet{
	"digits-300":  {table: "digits", tests: 597, n: 300},
	"digits-1000": {table: "digits", tests: 597, n: 1000},
	"segment-300": {table: "segment", tests: 810, n: 300, standardize: true},
}

// byHash returns numbers in the order of the hashes of prefix:number.
func byHash(prefix string, numbers []int) []int {
	key := func(i int) []byte { sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", prefix, i)); return sum[:] }
	out := slices.Clone(numbers)
	slices.SortFunc(out, func(a, b int) int { return bytes.Compare(key(a), key(b)) })
	return out
}

type studyData struct {
	x, tests      [][]float32
	y, testLabels [][]int32
	classes       int
}

// data returns the data of a seed. In a search, the tests are the validation data.
func (s studySet) data(seed int, search bool) (d studyData) {
	rows := must.M1(sheet.Set(s.table)).Rows
	var names []string
	all := make([]int, len(rows))
	for i, row := range rows {
		all[i] = i
		names = append(names, row[len(row)-1])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	all = byHash(s.table, all)
	split := len(all) - s.tests
	pool, tests := byHash(fmt.Sprintf("%s:%d", s.table, seed), all[:split]), all[split:]
	if search {
		tests = pool[s.n:]
	}
	take := func(of []int) (x [][]float64, y [][]int32) {
		for _, i := range of {
			row := rows[i]
			numbers := make([]float64, len(row)-1)
			for j := range numbers {
				numbers[j] = must.M1(strconv.ParseFloat(row[j], 64))
			}
			x, y = append(x, numbers), append(y, []int32{int32(slices.Index(names, row[len(row)-1]))})
		}
		return x, y
	}
	x, y := take(pool[:s.n])
	t, labels := take(tests)
	mean, scale := s.scale(x)
	return studyData{x: scaled(x, mean, scale), y: y, tests: scaled(t, mean, scale), testLabels: labels,
		classes: len(names)}
}

// scale returns the mean and the deviation of each column, or 0 and 16, the range of a pixel.
func (s studySet) scale(x [][]float64) (mean, scale []float64) {
	for j := range x[0] {
		if !s.standardize {
			mean, scale = append(mean, 0), append(scale, 16)
			continue
		}
		sum, squares := 0.0, 0.0
		for _, row := range x {
			sum += row[j]
		}
		m := sum / float64(len(x))
		for _, row := range x {
			squares += (row[j] - m) * (row[j] - m)
		}
		sd := math.Sqrt(squares / float64(len(x)))
		if sd < 1e-12 {
			sd = 1
		}
		mean, scale = append(mean, m), append(scale, sd)
	}
	return mean, scale
}

func scaled(x [][]float64, mean, scale []float64) (out [][]float32) {
	for _, row := range x {
		numbers := make([]float32, len(row))
		for j, v := range row {
			numbers[j] = float32((v - mean[j]) / scale[j])
		}
		out = append(out, numbers)
	}
	return out
}

// studyMethod is a method of the study. The search chooses its number v.
type studyMethod struct {
	of    func(v float64, classes int) func(scope *model.Scope, x *Node) *Node
	plain bool // the model has no indices
	decay bool // v is a penalty for the sum of squares of a network's parameters, not a part of the model
	fit   bool // the last layer becomes a posterior after training; v is the variance of its prior
}

var studyMethods = map[string]studyMethod{
	"plain": {plain: true, decay: true,
		of: func(_ float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node { return head(scope, studyTrunk(scope, x), classes) }
		}},
	"dropout": {
		of: func(v float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.Bernoulli{N: 64 + 64, Keep: 1 - v}, studyIndices)
				h := activation.Relu(gomlx.Dense(scope.In("first"), x, true, 64))
				h = layers.Dropout(scope.In("drop1"), z, InsertAxes(h, 0))
				h = activation.Relu(gomlx.Dense(scope.In("second"), h, true, 64))
				return head(scope, layers.Dropout(scope.In("drop2"), z, h), classes)
			}
		}},
	"ensemble": {decay: true,
		of: func(_ float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.OneHot{N: studyParticles}, studyParticles)
				return layers.FNN(scope.In("net"), z, x, classes, 64, 64).Done()
			}
		}},
	"ensemble-prior": {
		of: func(v float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.OneHot{N: studyParticles}, studyParticles)
				return layers.FNN(scope.In("net"), z, x, classes, 64, 64).Prior(v).Done()
			}
		}},
	"last-layer-linear": {
		of: func(v float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.Gaussian{N: studyDim}, studyIndices)
				return layers.Dense(scope.In("out"), z, studyTrunk(scope, x), classes).Prior(v).Done()
			}
		}},
	"full-linear": {
		of: func(v float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.Gaussian{N: studyDim}, studyIndices)
				return layers.FNN(scope.In("net"), z, x, classes, 64, 64).Prior(v).Done()
			}
		}},
	"epinet": {
		of: func(v float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, index.Gaussian{N: studyDim}, studyIndices)
				h := studyTrunk(scope, x)
				phi := Concatenate([]*Node{x, h}, 1)
				return Add(InsertAxes(head(scope, h, classes), 0),
					layers.Epinet(scope.In("epinet"), z, phi, classes).Prior(v).Done())
			}
		}},
	"last-layer-bayes": {fit: true,
		of: func(_ float64, classes int) func(scope *model.Scope, x *Node) *Node {
			return func(scope *model.Scope, x *Node) *Node {
				z := layers.Index(scope, layers.LastLayerIndex(64, classes), 1)
				return layers.LastLayer(scope.In("out"), z, studyTrunk(scope, x), classes)
			}
		}},
}

// studyTrunk returns the units of the second hidden layer.
func studyTrunk(scope *model.Scope, x *Node) *Node {
	return activation.Relu(fnn.New(scope.In("trunk"), x, 64).NumHiddenLayers(1, 64).Done())
}

func head(scope *model.Scope, h *Node, classes int) *Node {
	return gomlx.Dense(scope.In("head"), h, true, classes)
}

// studyOrder is the order of methods in runs and tables.
var studyOrder = []string{"plain", "dropout", "ensemble", "ensemble-prior", "last-layer-linear", "full-linear", "epinet",
	"last-layer-bayes"}

// studyCell is one training. By is the measure that chose the value, if it is not the joint NLL.
type studyCell struct {
	Search bool    `json:"search,omitempty"`
	Set    string  `json:"set"`
	Method string  `json:"method"`
	Value  float64 `json:"value"`
	By     string  `json:"by,omitempty"`
	Seed   int     `json:"seed"`
}

// studyRow is a result. Times are microseconds of a training step: the process's time on processors, and the time on
// the clock.
type studyRow struct {
	Library string `json:"library"`
	studyCell
	Error      float64 `json:"error"`
	Marginal   float64 `json:"marginal"`
	Joint      float64 `json:"joint"`
	Parameters int     `json:"parameters"`
	CPU        float64 `json:"cpu_us"`
	Wall       float64 `json:"wall_us"`
	On         string  `json:"on"`
}

const ownLibrary = "hyper/layers"

// readLines reads a file of JSON lines. No file has no lines.
func readLines[T any](path string) (lines []T) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	must.M(err)
	defer file.Close()
	for in := json.NewDecoder(file); ; {
		var line T
		if err := in.Decode(&line); err == io.EOF {
			return lines
		} else {
			must.M(err)
		}
		lines = append(lines, line)
	}
}

// TestStudy is the part of hyper/layers in the study: it trains and scores what enn.py asks for.
func TestStudy(t *testing.T) {
	if !*studyServe {
		t.Skip("is a part of notebooks/results/layers/enn.py")
	}
	out := json.NewEncoder(os.Stdout)
	var started training
	for in := json.NewDecoder(os.Stdin); ; {
		var ask struct {
			studyCell
			Do     string // run, start, steps, score or worse
			Steps  int    // number of steps to continue the training that was started
			Logits string // file with the logits that another library has for the cell
		}
		if err := in.Decode(&ask); err == io.EOF {
			return
		} else {
			must.M(err)
		}
		var answer any
		switch ask.Do {
		case "run":
			answer = ask.run(t)
		case "start":
			started = ask.start()
			started.train(studyWarm)
		case "steps":
			cpu, wall := started.train(ask.Steps)
			answer = studyRow{CPU: cpu, Wall: wall}
		case "score":
			packed := must.M1(os.ReadFile(ask.Logits))
			logits := make([]float32, len(packed)/4)
			must.M1(binary.Decode(packed, binary.LittleEndian, logits))
			var row studyRow
			row.score(must.M1(backend.Open(backend.Default())), logits, ask.data())
			answer = row
		case "worse":
			var asked []studyCell
			for _, q := range worse(readLines[studyRow](studyFolder + "rows.jsonl")) {
				asked = append(asked, studyCell{Set: q.set, Method: q.method, By: q.by})
			}
			answer = asked
		default:
			t.Fatalf("nobody can %q", ask.Do)
		}
		must.M(out.Encode(answer))
	}
}

func (c studyCell) data() studyData { return studySets[c.Set].data(c.Seed, c.Search) }

// training is the training of a cell.
type training struct {
	backend compute.Backend
	store   *model.Store
	network func(scope *model.Scope, x *Node) *Node // without a penalty
	loop    *train.Loop
	batches train.Dataset
	data    studyData
}

func (c studyCell) start() training {
	b := must.M1(backend.Open(backend.Default()))
	m, d, s := studyMethods[c.Method], c.data(), store(c.Seed)
	of := m.of(c.Value, d.classes)
	network := func(scope *model.Scope, x *Node) *Node { return of(haikuStart(scope), x) }
	trained := network
	if m.decay && c.Value > 0 {
		trained = func(scope *model.Scope, x *Node) *Node { return decayed(scope, c, network(scope, x)) }
	}
	f := layers.Loss(loss.SparseCategoricalCrossEntropyLogits)
	if m.plain {
		f = loss.SparseCategoricalCrossEntropyLogits
	}
	tr := train.NewTrainer(b, s, trained, f, optimizer.Adam().LearningRate(studyRate).Done(), nil, nil)
	batches := data(b, d.x, d.y).BatchSize(studyBatch, true).Infinite(true).Shuffle().
		WithRand(rand1.New(rand1.NewSource(int64(c.Seed))))
	return training{b, s, network, train.NewLoop(tr), batches, d}
}

// haikuStart gives the weights of GoMLX's own layers the standard deviation at the start that haiku gives them:
// 0.88/sqrt(fan-in). GoMLX's default is sqrt(2/fan-in).
func haikuStart(scope *model.Scope) *model.Scope {
	he := initializer.HeFn(scope)
	return scope.WithInitializer(func(g *Graph, shape shapes.Shape) *Node {
		return MulScalar(he(g, shape), 0.88/math.Sqrt2)
	})
}

// train makes training steps. It returns the microseconds of a step: the process's time on processors, and the time on
// the clock.
func (t training) train(steps int) (cpu, wall float64) {
	used, clock := processTime(), time.Now()
	must.M1(t.loop.RunSteps(t.batches, steps))
	each := float64(steps) * 1000
	return float64(processTime()-used) / each, float64(time.Since(clock)) / each
}

func (c studyCell) run(t *testing.T) studyRow {
	t.Helper()
	started, m := c.start(), studyMethods[c.Method]
	b, s, network, d := started.backend, started.store, started.network, started.data
	started.train(studyWarm)
	row := studyRow{Library: ownLibrary, studyCell: c, On: backend.Default()}
	row.CPU, row.Wall = started.train(studySteps - studyWarm)
	for v := range s.IterVariables() {
		if v.Trainable {
			row.Parameters += v.Shape().Size()
		}
	}
	if m.fit {
		must.M(layers.LastLayerFit{PriorVariance: c.Value}.Fit(b, s, network, data(b, d.x, d.y).BatchSize(100, false)))
	}
	logits := func() *tensors.Tensor {
		if m.plain {
			one := must.M1(model.NewExec1(b, s, network))
			return must.M1(one.Call(d.tests))
		}
		return must.M1(must.M1(layers.NewSampler(b, s, network, studySamples)).Sample(d.tests))
	}()
	row.score(b, must.M1(tensors.CopyFlatData[float32](logits)), d)
	return row
}

// decayed adds the penalty of a cell to the loss. A particle of an ensemble sees a tenth of the gradient of a network,
// and has a tenth of its penalty.
func decayed(scope *model.Scope, c studyCell, f *Node) *Node {
	v := c.Value
	if c.Method == "ensemble" {
		v /= studyParticles
	}
	for p := range scope.IterVariables() {
		if p.Trainable {
			train.AddRegularizationLoss(MulScalar(ReduceAllSum(Square(p.NodeValue(f.Graph()))), v))
		}
	}
	return f
}

// processTime returns the time on processors of this process.
func processTime() time.Duration {
	var u syscall.Rusage
	must.M(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// score sets the scores of logits [indices, test inputs, classes].
func (r *studyRow) score(b compute.Backend, logits []float32, d studyData) {
	n := len(logits) / len(d.tests) / d.classes
	out := must.M1(CallOnceN(b, func(logits, labels *Node) []*Node {
		predicted := ArgMax(layers.Probabilities(logits), 1, dtypes.Int32)
		wrong := ConvertDType(NotEqual(predicted, Reshape(labels, -1)), logits.DType())
		return []*Node{ReduceAllMean(wrong), ReduceAllMean(layers.MarginalNLL(logits, labels)),
			ReduceAllMean(layers.JointNLL(logits, labels, studyTau))}
	}, tensors.FromFlatDataAndDimensions(logits, n, len(d.tests), d.classes), d.testLabels))
	for i, to := range []*float64{&r.Error, &r.Marginal, &r.Joint} {
		*to = float64(tensors.ToScalar[float32](out[i]))
	}
}
