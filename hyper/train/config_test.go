package train

import (
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Validate reports every fault, and refuses an integration that a model does not support.
func TestConfigValidate(t *testing.T) {
	arms, line := base.Tabular{Arms: 3}, base.Linear{Features: 3}
	net := base.MLP{Layers: []int{2, 3, 1}}
	diagonal := hyper.PerParameter(3, 2)
	good := Config{Steps: 1, Batch: 1, Indices: 1, Capacity: 1}
	with := func(f func(*Config)) Config { c := good; f(&c); return c }
	exact := func(i Integration) Config { return with(func(c *Config) { c.Integrate, c.Indices = i, 0 }) }
	linear, ensemble := affineIn(arms, diagonal, index.Gaussian{N: 6}, diagonal), ensembleOf(net, 3, none)
	for _, c := range []struct {
		config Config
		model  hyper.Model
		wants  []string // none: no error
	}{
		{good, linear, nil},
		{Config{}, linear, []string{"Steps must", "Capacity must", "Batch must", "Indices must"}},
		{with(func(c *Config) { c.Optimizer, c.Integrate = Adam{Beta1: 1}, 7 }), linear,
			[]string{"Optimizer: Beta1 must be in [0, 1)", "Integrate: unknown 7"}},
		{exact(Analytic), linear, nil},
		{Config{Steps: 1, Integrate: FullData}, linear, nil}, // no batch or capacity needed
		{exact(Analytic), ensemble, nil},                     // all particles
		{exact(FullData), ensemble, []string{"linear in its parameters"}},
		{exact(Analytic), affineIn(net, hyper.Dense(13, 2), index.Gaussian{N: 2}, none),
			[]string{"linear in its parameters"}},
		{exact(FullData), ensembleOf(line, 3, hyper.Dense(3, 3)), nil},
		{exact(Analytic), networkOf(line, index.Gaussian{N: 2}, none), []string{"needs a linear hypermodel"}},
		{Config{Integrate: Exact}, linear, nil}, // Exact needs nothing else
		{Config{Integrate: Exact}, ensemble, []string{"linear in its parameters"}},
		{Config{Integrate: Exact}, networkOf(line, index.Gaussian{N: 2}, none),
			[]string{"a linear hypermodel or an ensemble"}},
		{Config{Integrate: Exact}, affineIn(line, diagonal, index.OneHot{N: 6}, none), []string{"needs a dense layout"}},
		{Config{Integrate: Exact}, affineIn(line, diagonal, index.Bernoulli{N: 6, Keep: 0.5}, none),
			[]string{"needs indices of mean 0"}},
		{Config{Integrate: Exact}, withPrior(affineIn(line, diagonal, index.Gaussian{N: 6}, none),
			base.MLP{Layers: []int{3, 1}}, hyper.Dense(4, 6)),
			[]string{"needs a prior with the model's own base model"}},
		{exact(FullData), affineIn(line, diagonal, index.Gaussian{N: 6}, hyper.Dense(3, 6)),
			[]string{"prior with the hypermodel's layout"}},
	} {
		err := c.config.Validate(c.model)
		if len(c.wants) == 0 && err != nil {
			t.Errorf("%+v: got error %v, want none", c.config, err)
		}
		for _, want := range c.wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: error %v, want %q", c.config, err, want)
			}
		}
	}
}
