package learner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// beliefs are some whose defaults differ.
var beliefs = map[string]hyper.Belief{
	"arms": hyper.Model{Base: base.Tabular{Arms: 3}, Hyper: hyper.Ensemble{Particles: 4, Params: 3}},
	"line": hyper.Model{Base: base.Linear{Features: 4}, Hyper: hyper.Linear{Layout: hyper.Dense(4, 2), P: index.Gaussian{N: 2}}},
	"network": hyper.Model{Base: base.MLP{Layers: []int{2, 3, 1}},
		Hyper: hyper.Ensemble{Particles: 4, Params: hyper.NumTheta(base.MLP{Layers: []int{2, 3, 1}})}},
	"epinet": hyper.NewEpinet(2),
}

// Defaults are the exact solution where there is one, and else sampled indices with Adam; they are their own defaults,
// and valid.
func TestDefaults(t *testing.T) {
	for name, b := range beliefs {
		l := Learner{Belief: b}.WithDefaults()
		l.Train.Capacity = 10
		if again := l.WithDefaults(); !reflect.DeepEqual(again, l) {
			t.Errorf("%s: defaults of defaults are %+v, not %+v", name, again, l)
		}
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		exact := name == "arms" || name == "line"
		if (l.Train.Integrate == train.Exact) != exact || (l.Train.Optimizer == train.Optimizer(train.Adam{})) == exact {
			t.Errorf("%s: integrate %s, optimizer %T", name, l.Train.Integrate, l.Train.Optimizer)
		}
	}
	if v := (Learner{Belief: beliefs["line"]}).WithDefaults().PriorVariance; v != 0.25 {
		t.Errorf("prior variance %v of four features, want 1/4", v)
	}
}

// Numbers are named after fields, those of the policy too; a negative number is none. Clip and KL are there only where
// they do something.
func TestNumbers(t *testing.T) {
	l := Learner{
		Belief: beliefs["network"], Perturbation: -1, InitVariance: -1, NoiseVariance: 2, PriorVariance: 3, StepSize: 0.1,
		Policy: explore.EpsilonGreedy{Anneal: 5},
	}.WithDefaults()
	want := map[string]float64{
		"StepSize": 0.1, "NoiseVariance": 2, "PriorVariance": 3, "InitVariance": 0, "Perturbation": 0, "MapStep": 1, "Policy.Anneal": 5,
	}
	if got := l.Numbers(); !maps.Equal(got, want) {
		t.Errorf("numbers %v, want %v", got, want)
	}
	l.Clip = 7
	if got := l.Numbers(); got["Clip"] != 7 {
		t.Errorf("numbers %v, want a Clip", got)
	}
}

// All faults come at once, in the order of the fields.
func TestFaultsComeTogether(t *testing.T) {
	l := Learner{
		Belief: beliefs["network"], NoiseVariance: -1, PriorVariance: -2, MapStep: -3, Clip: -4, Policy: explore.TopTwo{N: 1},
		Train: train.Config{IndexSet: train.Frame},
	}.WithDefaults()
	err := l.Validate()
	var at []int
	for _, want := range []string{"Train.Capacity", "IndexSet", "NoiseVariance", "PriorVariance", "MapStep", "Clip", "Policy: "} {
		at = append(at, strings.Index(fmt.Sprint(err), want))
	}
	if slices.Contains(at, -1) || !slices.IsSorted(at) {
		t.Errorf("places %v in:\n%v", at, err)
	}
}

// One meaning of a step size: that of a particle each time it is visited. So alpha is the step times the particles that
// a step visits for SGD, and the step itself for an optimizer that divides by the gradient's size, and for indices that
// are no particles.
func TestStepOfAParticle(t *testing.T) {
	ensemble := hyper.Model{Base: base.Tabular{Arms: 3}, Hyper: hyper.Ensemble{Particles: 30, Params: 3}}
	for _, c := range []struct {
		belief    hyper.Belief
		optimizer train.Optimizer
		integrate train.Integration
		want      float64
	}{
		{ensemble, nil, train.Sampled, 7}, {ensemble, train.SGD{}, train.Analytic, 30}, {ensemble, train.Adam{}, train.Sampled, 1},
		{ensemble, train.RMSProp{}, train.Analytic, 1}, {beliefs["line"], train.SGD{}, train.Sampled, 1},
	} {
		l := Learner{Belief: c.belief, Train: train.Config{Indices: 7, Integrate: c.integrate, Optimizer: c.optimizer}}
		if got := l.visited(); got != c.want {
			t.Errorf("%T, %T, %s: alpha is %v steps, want %v", c.belief, c.optimizer, c.integrate, got, c.want)
		}
	}
}

// A learner says what is believed, how it is learned, and how to explore; the rest has defaults.
func ExampleLearner() {
	l := Learner{
		Belief: hyper.Model{
			Base:  base.Tabular{Arms: 10},
			Hyper: hyper.Linear{Layout: hyper.PerParameter(10, 5), P: index.PerArm{Arms: 10, M: 5}},
		},
		Policy: explore.UCB{Quantile: 0.9},
	}.WithDefaults()
	fmt.Println(l.Train.Integrate, l.NoiseVariance, l.PriorVariance, l.Perturbation)
	// Output: exact 1 1 1
}
