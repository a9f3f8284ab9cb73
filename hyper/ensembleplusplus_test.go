package hyper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/index"
)

func TestWrongEnsemblePlusPlus(t *testing.T) {
	p := index.Paired{N: 2, Reference: index.LawCube, Noise: index.LawCube}
	for want, b := range map[string]EnsemblePlusPlus{
		"hyper.EnsemblePlusPlus: P: the distribution of the index": {Features: 2},
		"Features must be at least 1, got 0":                       {P: p},
		"P: index.Paired: Reference must be a law": {Features: 2,
			P: index.Paired{N: 2, Noise: index.LawCube}},
	} {
		if err := b.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", b, err, want)
		}
	}
}

// The linear Ensemble++ for ten features and eight columns, with a Gaussian index and perturbations on the sphere.
func ExampleEnsemblePlusPlus() {
	b := EnsemblePlusPlus{Features: 10, P: index.Paired{N: 8, Reference: index.LawGaussian, Noise: index.LawSphere}}
	fmt.Println(b.Validate(), b.NumInvolved(), "parameters,", CapabilitiesOf(b).Affine != nil)
	// Output: <nil> 90 parameters, true
}
