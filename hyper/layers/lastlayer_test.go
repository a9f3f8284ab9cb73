package layers

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/mat"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func last(scope *model.Scope, x *Node) *Node {
	return LastLayer(scope.In("out"), Index(scope, LastLayerIndex(2, 2), 4000), x, 2)
}

// After Fit, the outputs have the mean and the covariance of Bayesian linear regression, computed here by inverses.
func TestLastLayerIsRegression(t *testing.T) {
	const noise, prior, n = 0.5, 2.0, 12
	b, store := must.M1(backend.Open(backend.Go)), model.NewStore()
	x, y := normals(1, n, 2), normals(2, n, 2)
	sampler := must.M1(NewSampler(b, store, last, 4000))
	at := normals(3, 2, 2)
	before := must.M1(tensors.CopyFlatData[float32](must.M1(sampler.Sample(at))))
	if before[0] != before[4] || before[0] == 0 {
		t.Errorf("before Fit, two indices give %g and %g", before[0], before[4])
	}
	ds := must.M1(dataset.InMemoryFromData(b, "data", []any{x}, []any{y})).BatchSize(5, false)
	must.M(LastLayerFit{PriorVariance: prior, NoiseVariance: noise}.Fit(b, store, last, ds))

	phi := mat.NewDense(n, 3, nil)
	for i, row := range x {
		phi.SetRow(i, []float64{float64(row[0]), float64(row[1]), 1})
	}
	var precision, covariance mat.Dense
	precision.Mul(phi.T(), phi)
	precision.Scale(1/noise, &precision)
	for i := range 3 {
		precision.Set(i, i, precision.At(i, i)+1/prior)
	}
	must.M(covariance.Inverse(&precision))
	samples := must.M1(tensors.CopyFlatData[float32](must.M1(sampler.Sample(at)))) // [indices, inputs, outputs]
	for i, row := range at {
		v := mat.NewVecDense(3, []float64{float64(row[0]), float64(row[1]), 1})
		variance := mat.Inner(v, &covariance, v)
		for o := range 2 {
			targets := mat.NewVecDense(n, nil)
			for j := range y {
				targets.SetVec(j, float64(y[j][o]))
			}
			var fit, theta mat.VecDense
			fit.MulVec(phi.T(), targets)
			theta.MulVec(&covariance, &fit)
			want := mat.Dot(v, &theta) / noise
			var sum, squares float64
			for k := range 4000 {
				f := float64(samples[k*4+i*2+o])
				sum, squares = sum+f, squares+f*f
			}
			m := sum / 4000
			if sd := math.Sqrt(variance); math.Abs(m-want) > 5*sd/math.Sqrt(4000) {
				t.Errorf("the mean of output %d is %g, want %g", o, m, want)
			}
			if got := squares/4000 - m*m; math.Abs(got/variance-1) > 5*math.Sqrt(2.0/4000) {
				t.Errorf("the variance of output %d is %g, want %g", o, got, variance)
			}
		}
	}
}

// Laplace's approximation keeps the trained weights, and spreads more where there are no data.
func TestLastLayerOfClasses(t *testing.T) {
	b, store := must.M1(backend.Open(backend.Go)), model.NewStore()
	sampler := must.M1(NewSampler(b, store, last, 4000))
	at := [][]float32{{0.5, 0.5}, {30, -30}}
	before := must.M1(tensors.CopyFlatData[float32](must.M1(sampler.Sample(at))))
	labels := make([][]int32, 40)
	for i := range labels {
		labels[i] = []int32{int32(i % 2)}
	}
	ds := must.M1(dataset.InMemoryFromData(b, "data", []any{normals(1, 40, 2)}, []any{labels})).BatchSize(40, false)
	must.M(LastLayerFit{PriorVariance: 1}.Fit(b, store, last, ds))
	samples := must.M1(tensors.CopyFlatData[float32](must.M1(sampler.Sample(at))))
	var sd [2]float64
	for i := range sd {
		sum, squares := 0.0, 0.0
		for k := range 4000 {
			f := float64(samples[k*4+i*2])
			sum, squares = sum+f, squares+f*f
		}
		sd[i] = math.Sqrt(squares/4000 - sum*sum/4000/4000)
		if want := float64(before[i*2]); math.Abs(sum/4000-want) > 5*sd[i]/math.Sqrt(4000) {
			t.Errorf("the mean at input %d is %g, and was %g", i, sum/4000, want)
		}
	}
	if !(sd[1] > 10*sd[0]) || sd[0] == 0 {
		t.Errorf("far from the data the deviation is %g, and %g near them", sd[1], sd[0])
	}
}

// Fit refuses data in memory that begin again. It takes examples that are batches themselves.
func TestFitEnds(t *testing.T) {
	b, fit := must.M1(backend.Open(backend.Go)), LastLayerFit{PriorVariance: 1, NoiseVariance: 1}
	ds := must.M1(dataset.InMemoryFromData(b, "data", []any{normals(1, 7, 2)}, []any{normals(2, 7, 2)})).BatchSize(3, true)
	must.M(fit.Fit(b, model.NewStore(), last, must.M1(dataset.InMemory(b, ds, false))))
	must.M(fit.Fit(b, model.NewStore(), last, ds.Infinite(false).Shuffle()))
	err := fit.Fit(b, model.NewStore(), last, ds.Infinite(true))
	if err == nil || !strings.Contains(err.Error(), "the dataset goes on after its 7 examples; make it Infinite(false)") {
		t.Errorf("the error is %v", err)
	}
	must.M(fit.Fit(b, model.NewStore(), last, dataset.Take(ds, 2)))
}

func TestBadLastLayer(t *testing.T) {
	b := must.M1(backend.Open(backend.Go))
	ds := must.M1(dataset.InMemoryFromData(b, "data", []any{normals(1, 4, 2)}, []any{normals(1, 4, 3)}))
	ds = ds.BatchSize(4, false)
	plain := func(_ *model.Scope, x *Node) *Node { return x }
	twice := func(scope *model.Scope, x *Node) *Node {
		z := Index(scope, LastLayerIndex(2, 2), 1)
		return Add(LastLayer(scope.In("a"), z, x, 2), LastLayer(scope.In("b"), z, x, 2))
	}
	one := func(scope *model.Scope, x *Node) *Node {
		return LastLayer(scope.In("out"), Index(scope, LastLayerIndex(2, 1), 1), x, 1)
	}
	other := func(scope *model.Scope, x *Node) *Node {
		return LastLayer(scope.In("other"), Index(scope, LastLayerIndex(2, 2), 1), x, 2)
	}
	trained := model.NewStore()
	must.M1(must.M1(NewSampler(b, trained, one, 1)).Sample(normals(1, 4, 2)))
	for want, err := range map[string]error{
		"PriorVariance must be positive":             LastLayerFit{}.Fit(b, model.NewStore(), last, ds),
		"the model has no LastLayer":                 LastLayerFit{PriorVariance: 1}.Fit(b, model.NewStore(), plain, ds),
		"labels must be (Float32)[4, 2]":             LastLayerFit{1, 1}.Fit(b, model.NewStore(), last, ds),
		"already, in scope \"/a\"":                   LastLayerFit{PriorVariance: 1}.Fit(b, model.NewStore(), twice, ds),
		"at least two outputs; got 1":                LastLayerFit{PriorVariance: 1}.Fit(b, model.NewStore(), one, ds),
		"the store lacks 2 variables of the model":   LastLayerFit{PriorVariance: 1}.Fit(b, trained, other, ds),
		`needs indices of LastLayerIndex(2, 5), got`: badIndex(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func badIndex() error {
	_, err := try(backend.Go, model.NewStore(), func(scope *model.Scope, x *Node) []*Node {
		return []*Node{LastLayer(scope.In("out"), Index(scope, LastLayerIndex(2, 2), 1), x, 5)}
	}, normals(1, 4, 2))
	return err
}
