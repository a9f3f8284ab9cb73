package agent

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
)

// checkBase reports a base model that does not predict one number for each input of so many Features. It builds the
// graph of a prediction, which infers shapes, and compiles nothing; base models that know their inputs have been
// checked before.
func (c Config) checkBase(b compute.Backend) error {
	bases := []hyper.BaseModel{c.Model.Base}
	if c.Model.Prior != nil && c.Model.Prior.Base != nil {
		bases = append(bases, c.Model.Prior.Base)
	}
	for _, base := range bases {
		if err := exceptions.TryCatch[error](func() { c.apply(b, base) }); err != nil {
			return fmt.Errorf("Model: %T cannot be applied to inputs of %d features: %w", base, c.Features, err)
		}
	}
	return nil
}

// apply builds a prediction at two inputs by three functions.
func (c Config) apply(b compute.Backend, base hyper.BaseModel) {
	g := NewGraph(b, "base model")
	defer g.Finalize()
	x := Parameter(g, "x", shapes.Make(dtypes.Int32, 1, 2, 1))
	if c.Features > 0 {
		x = Parameter(g, "features", shapes.Make(dtypes.Float32, 1, 2, c.Features))
	}
	f := base.Apply(Parameter(g, "theta", shapes.Make(dtypes.Float32, 1, 3, hyper.NumTheta(base))), x)
	if want := shapes.Make(dtypes.Float32, 1, 3, 2); !f.Shape().Equal(want) {
		exceptions.Panicf("predictions have shape %s, want %s: [runs, indices, inputs]", f.Shape(), want)
	}
}
