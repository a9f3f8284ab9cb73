package testbed

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// The divergences of the uniform and the prior agent agree with a simulation by other code (400 batches, K = 10,000,
// dyadic and independent inputs) within 5 standard errors of both. The agent marginal equals uniform up to sampling
// error, since both classes are equally likely at each input. With 10,000 phi a mean probability has an error of 0.005,
// the log-likelihood of a batch an error of about sqrt(2) * 5 * 0.01, and the mean over batches a smaller one.
func TestLogisticRegression(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; ExampleLogisticRegression has a case")
	}
	const batches = 40
	rows := []struct {
		inputs, anchors int
		uniform, prior  float64
	}{{10, 2, 6.90, 1.44}, {1, 0, 6.53, 0.87}, {100, 0, 6.91, 6.9}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if name != backend.Go {
			rows = rows[:1] // each row takes a second to compile
		}
		for _, c := range rows {
			row := must.M1(LogisticRegression(
				LogisticProblem{Inputs: c.inputs, Anchors: c.anchors, Batches: batches, Seed: 1}, name))
			t.Logf("D = %d, %d anchors: %+v", c.inputs, c.anchors, row)
			for _, of := range []struct {
				agent string
				got   Divergence
				want  float64
			}{{"uniform", row.Uniform, c.uniform}, {"prior", row.Prior, c.prior}, {"marginal", row.Marginal, c.uniform}} {
				within := 5*of.got.StdErr*math.Sqrt(1+batches/400.0) + 0.03
				if !(math.Abs(of.got.Mean-of.want) <= within) {
					t.Errorf("D = %d, %d anchors: %s %v, want %v", c.inputs, c.anchors, of.agent, of.got, of.want)
				}
			}
			if math.Abs(row.Marginal.Mean-row.Uniform.Mean) > 0.07 {
				t.Errorf("D = %d, %d anchors: marginal %v and uniform %v differ by more than 0.07",
					c.inputs, c.anchors, row.Marginal, row.Uniform)
			}
		}
	})
}

// Validate reports all faults at once.
func TestLogisticRegressionFaults(t *testing.T) {
	_, err := LogisticRegression(LogisticProblem{Anchors: -1, Batches: -3}, backend.Go)
	for _, want := range []string{"Inputs must be at least 1, got 0", "Anchors must", "Batches must"} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	_, err = LogisticRegression(LogisticProblem{Inputs: 1}, "xla")
	if err == nil || !strings.Contains(err.Error(), "xla:cpu") {
		t.Errorf("unknown backend: got error %v, want one that lists the backends", err)
	}
}

// Ten classes at two inputs of a hundred numbers, when nothing has been learned. All three agents give the same
// probabilities to single classes.
func ExampleLogisticRegression() {
	row, err := LogisticRegression(LogisticProblem{Inputs: 100, Anchors: 2, Batches: 100}, backend.Go)
	fmt.Printf("uniform %.1f, prior %.1f, marginal %.1f %v\n", row.Uniform.Mean, row.Prior.Mean, row.Marginal.Mean, err)
	// Output: uniform 6.9, prior 1.4, marginal 6.9 <nil>
}
