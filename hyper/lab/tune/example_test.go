package tune_test

import (
	"fmt"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

func ExampleParseDimension() {
	d := must.M1(tune.ParseDimension("schedule-after[schedule=inverse-root]=100:10000"))
	fmt.Println(d.Key, "from", d.Low, "to", d.High, "if", d.When)
	// Output: schedule-after from 100 to 10000 if schedule=inverse-root
}
