package testbed

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Numbers and seeds equal the published lists: for each tau, problems are ordered by D, then T, then rho, then the
// seed. The seed counts problems, and is incremented before its use.
func TestNumbering(t *testing.T) {
	for _, c := range []struct {
		sweep  Sweep
		number int
		want   Problem
	}{
		{Classification2D(), 0, Problem{0, 2, 1, 0.01, 0, 1}},
		{Classification2D(), 75, Problem{75, 2, 10, 0.1, 0, 76}},      // in the tutorial: seed 76, T = 10, rho = 0.1
		{Classification2D(), 209, Problem{209, 2, 1000, 0.5, 0, 210}}, // the last of 7 * 3 * 10
		{Classification(), 103, Problem{103, 10, 1000, 0.5, 0, 104}},  // ((1*4 + 2)*3 + 2)*5 + 3: D = 10, T = 100 D
		{Classification(), 179, Problem{179, 100, 1e5, 0.5, 0, 180}},  // the last of 3 * 4 * 3 * 5
		{Classification().Few(1), 3, Problem{15, 2, 20, 0.01, 0, 16}}, // one for each of 36 settings
		{regressionSweep(), 75, Problem{75, 1, 100, 0, 0.1, 76}},      // ((0*3 + 2)*3 + 1)*10 + 5: D = 1, T = 100 D
		{ennPaper(), 269, Problem{269, 100, 10_000, 0, 1, 270}},       // the last of 3 * 3 * 3 * 10
		{Classification2D().Few(4), 5, Problem{11, 2, 1, 0.1, 0, 12}}, // four of ten
	} {
		if got := c.sweep.Problems[c.number]; got != c.want {
			t.Errorf("%s: problem at %d is %+v, want %+v", c.sweep.Name, c.number, got, c.want)
		}
		if err := c.sweep.Validate(); err != nil {
			t.Error(err)
		}
	}
	lengths := fmt.Sprint(len(Classification2D().Problems), len(Classification().Problems),
		len(Classification2D().Few(4).Problems), len(Classification().Few(1).Problems))
	if lengths != "210 180 84 36" {
		t.Errorf("sweeps have %s problems, want 210 180 84 36", lengths)
	}
	for name, sweep := range Known {
		if sweep().Name != name {
			t.Errorf("sweep %s is listed under the name %s", sweep().Name, name)
		}
	}
}

// Each fault of a configuration is reported in one clear line.
func TestValidate(t *testing.T) {
	double := Classification2D()
	double.Problems = append(double.Problems, double.Problems[3])
	for want, v := range map[string]interface{ Validate() error }{
		"testbed.Problem: Inputs must be at least 1, got 0":       Problem{Data: 1, Temperature: 1},
		"testbed.Problem: Data must be at least 1, got -1":        Problem{Inputs: 1, Data: -1, Temperature: 1},
		"testbed.Problem: Number must be at least 0, got -1":      Problem{Number: -1, Inputs: 1, Data: 1, Temperature: 1},
		"Temperature must be positive and finite, got NaN":        Problem{Inputs: 1, Data: 1, Temperature: math.NaN()},
		"the data would be [2000000 2000] numbers":                Problem{Inputs: 2000, Data: 2e6, Temperature: 1},
		"Noise must be positive and finite, got -1":               Problem{Inputs: 1, Data: 1, Noise: -1},
		"Temperature, for classification, is 1 and Noise, for re": Problem{Inputs: 1, Data: 1, Temperature: 1, Noise: 1},
		"the covariance of the responses would be":                Problem{Inputs: 1, Data: 1e6, Noise: 1},
		"Kind must be Classes, Responses or Functions, got 3": Sweep{Seeds: 1, Kind: 3,
			Problems: regressionSweep().Problems},
		"Anchors are for classes that are predicted together": Sweep{Seeds: 1, Kind: Responses, Anchors: 2,
			Problems: regressionSweep().Problems},
		"problem 0: a problem with Noise needs the Kind":         Sweep{Seeds: 1, Problems: regressionSweep().Problems[:1]},
		"testbed.Sweep: the number of problems must be at least": Sweep{Seeds: 1},
		"testbed.Sweep: there are two problems of number 3":      double,
		"problem 7: testbed.Problem: Temperature must be": Sweep{Seeds: 1,
			Problems: []Problem{{Number: 7, Inputs: 1, Data: 1}}},
	} {
		if err := v.Validate(); err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("%+v: error %v, want %q", v, err, want)
		}
	}
}

// The problem of the testbed's tutorial.
func ExampleClassification2D() {
	sweep := Classification2D()
	fmt.Printf("%s: %+v\n", sweep.Name, sweep.Problems[75])
	// Output:
	// classification_2d: {Number:75 Inputs:2 Data:10 Temperature:0.1 Noise:0 Seed:76}
}

// A fifth of the problems with inputs of up to a hundred numbers.
func ExampleClassification() {
	sweep := Classification().Few(1)
	fmt.Println(len(sweep.Problems), sweep.Validate())
	// Output: 36 <nil>
}
