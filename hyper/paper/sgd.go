package paper

import (
	"errors"
	"reflect"
	"regexp"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// SGD is the part of a setting that describes training by perturbed SGD.
type SGD struct {
	Descent
	Perturbation float64 `key:"perturbation" run:"true" help:"scale of the data perturbations, as a multiple of sigma_w"`
}

// Validate reports what is wrong; the trainer's Config does the rest.
func (c SGD) Validate() error {
	return errors.Join(c.Descent.Validate(), notNegative("perturbation", c.Perturbation))
}

// Descent is the part of a setting that describes the steps of training.
type Descent struct {
	StepSize  float64 `key:"step-size" run:"true" help:"constant step size: alpha; for an ensemble trained by sgd the step of a particle each time it is visited, alpha over the particles visited by an SGD step"`
	Steps     int     `key:"sgd-steps" help:"SGD steps per period"`
	Batch     int     `key:"batch" help:"data points per SGD step, drawn with replacement"`
	Indices   int     `key:"index-samples" help:"indices z sampled per SGD step"`
	IndexSet  string  `key:"index-set" help:"iid (the paper's), antithetic (z and -z) or frame (z and -z, orthogonal: exact first and second moments)"`
	Integrate string  `key:"integrate" help:"sampled (the paper's), analytic (expectation over z in closed form; all particles), full-data (analytic, on all data by sufficient statistics) or exact (the minimiser itself; no SGD steps)"`
	Optimizer string  `key:"optimizer" help:"sgd (the paper's), adam, adamax or rmsprop (GoMLX's)"`
	MapStep   float64 `key:"map-step" run:"true" help:"step size of the part of a linear hypermodel that sees the index, as a multiple of step-size"`
	LastLayer string  `key:"last-layer" help:"gradient (the paper's) or implicit: a proximal step, stable for every step size, on the last layer of the network"`
	Clip      float64 `key:"clip" run:"positive" help:"bound on the norm of a gradient of the loss over |D|; 0 is none"`
}

func newSGD() SGD {
	return SGD{Descent: Descent{Steps: 1, IndexSet: string(train.IID), Integrate: string(train.Sampled), Optimizer: "sgd", LastLayer: string(train.GradientStep), MapStep: 1}, Perturbation: 1}
}

// Validate reports what is wrong; the trainer's Config does the rest.
func (c Descent) Validate() error {
	return errors.Join(positive("step-size", c.StepSize), positive("map-step", c.MapStep), notNegative("clip", c.Clip))
}

// validateFor returns the errors of a setting: of its numbers and names, and of the model they make.
func (c Descent) validateFor(numbers error, model func() hyper.Model) error {
	if numbers != nil { // no model can be made of them
		return errors.Join(numbers, inKeys(c.config(1).ValidateNames()))
	}
	m := model()
	if err := m.Validate(); err != nil {
		return err
	}
	return inKeys(c.config(1).Validate(m))
}

// inKeys names the fields of a train.Config in its errors by the keys of a setting.
func inKeys(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(fieldName.ReplaceAllStringFunc(err.Error(), func(name string) string {
		field, _ := reflect.TypeFor[Descent]().FieldByName(name)
		return field.Tag.Get("key")
	}))
}

var fieldName = regexp.MustCompile(`\b(Steps|Batch|Indices|IndexSet|Integrate|Optimizer|LastLayer)\b`)

func (c Descent) config(periods int) train.Config {
	return train.Config{
		Steps: c.Steps, Batch: c.Batch, Indices: c.Indices, IndexSet: train.IndexSet(c.IndexSet),
		Integrate: train.Integration(c.Integrate), Optimizer: c.Optimizer, LastLayer: train.LastLayer(c.LastLayer), Capacity: periods,
	}
}

// rates are the trainer's, from the keys of a setting; those it lacks are off. visited is what the step-size is multiplied by to
// give the paper's alpha.
func rates(in lab.Inputs, visited int) train.Rates {
	r := train.Rates{
		Step: MulScalar(in["step-size"], float64(visited)), NoiseVar: in["noise-variance"], PriorVar: in["prior-variance"],
		Perturbation: ZerosLike(in["step-size"]), MapStep: in["map-step"], Clip: in["clip"], KL: in["kl-strength"],
	}
	if scale := in["perturbation"]; scale != nil {
		r.Perturbation = Mul(scale, Sqrt(r.NoiseVar))
	}
	if sd := in["prior-deviation"]; sd != nil {
		r.PriorVar = Square(sd)
	}
	return r
}
