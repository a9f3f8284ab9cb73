package train

import (
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

type namedModel struct {
	name string
	hyper.Model
}

// affineIn returns a linear hypermodel. If the layout prior has blocks, the hypermodel has a prior in that layout.
func affineIn(b hyper.BaseModel, l hyper.Layout, p index.Distribution, prior hyper.Layout) hyper.Model {
	return withPrior(hyper.Model{Base: b, Hyper: hyper.Linear{Layout: l, P: p, InitM: hyper.InitNormal(0.5)}}, b, prior)
}

func ensembleOf(b hyper.BaseModel, particles int, prior hyper.Layout) hyper.Model {
	return withPrior(hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: particles, Params: hyper.NumTheta(b)}},
		b, prior)
}

func networkOf(b hyper.BaseModel, p index.Distribution, prior hyper.Layout) hyper.Model {
	h := hyper.Network{P: p, Hidden: []int{4}, Params: hyper.NumTheta(b), Activation: base.ActivationTanh}
	return withPrior(hyper.Model{Base: b, Hyper: h}, b, prior)
}

func withPrior(m hyper.Model, b hyper.BaseModel, l hyper.Layout) hyper.Model {
	if len(l.Sizes) > 0 {
		m.Prior = &hyper.Prior{Base: b, Layout: l}
	}
	return m
}

var none hyper.Layout

// linearModels returns models that are linear in theta: every layout, distribution of the index, and kind of prior.
func linearModels() []namedModel {
	arms, line, wide := base.Tabular{Arms: 3}, base.Linear{Features: 3}, base.Linear{Features: 4}
	perArm := index.PerArm{Arms: 3, M: 2}
	diagonal, uneven, pairs := hyper.PerParameter(3, 2), hyper.Layout{Sizes: []int{1, 2}, Width: 2},
		hyper.Layout{Sizes: []int{2, 2}, Width: 3}
	return []namedModel{
		{"arms, per arm", affineIn(arms, diagonal, perArm, diagonal)},
		{"arms, per arm, no prior", affineIn(arms, diagonal, perArm, none)},
		{"arms, per arm, dense C", affineIn(arms, hyper.Dense(3, 6), perArm, hyper.Dense(3, 6))},
		{"arms, one number per arm, dense C", affineIn(arms, hyper.Dense(3, 3), index.PerArm{Arms: 3, M: 1},
			hyper.Dense(3, 3))},
		{"arms, per arm, blocks across arms", affineIn(arms, hyper.Layout{Sizes: []int{1, 2}, Width: 3}, perArm, none)},
		{"arms, Gaussian, diagonal", affineIn(arms, diagonal, index.Gaussian{N: 6}, diagonal)},
		{"arms, Gaussian, dense", affineIn(arms, hyper.Dense(3, 4), index.Gaussian{N: 4}, hyper.Dense(3, 4))},
		{"arms, sphere, dense C, diagonal prior", affineIn(arms, hyper.Dense(3, 6), index.Sphere{N: 6}, diagonal)},
		{"arms, per arm, network", networkOf(arms, perArm, diagonal)},
		{"arms, ensemble", ensembleOf(arms, 4, hyper.Dense(3, 4))},
		{"arms, ensemble, no prior", ensembleOf(arms, 4, none)},
		{"line, dense", affineIn(line, hyper.Dense(3, 4), index.Gaussian{N: 4}, hyper.Dense(3, 4))},
		{"line, sphere, dense, no prior", affineIn(line, hyper.Dense(3, 4), index.Sphere{N: 4}, none)},
		{"line, diagonal", affineIn(line, diagonal, index.Gaussian{N: 6}, diagonal)},
		{"line, uneven blocks, sphere", affineIn(line, uneven, index.Sphere{N: 4}, uneven)},
		{"line, uneven blocks, dense prior", affineIn(line, uneven, index.Gaussian{N: 4}, hyper.Dense(3, 4))},
		{"line, even blocks", affineIn(wide, pairs, index.Gaussian{N: 6}, pairs)},
		{"line, one-hot index, linear", affineIn(line, hyper.Dense(3, 4), index.OneHot{N: 4}, hyper.Dense(3, 4))},
		{"line, ensemble", ensembleOf(line, 4, hyper.Dense(3, 4))},
		{"line, ensemble, diagonal prior", ensembleOf(line, 6, diagonal)},
		{"line, network", networkOf(line, index.Gaussian{N: 3}, hyper.Dense(3, 3))},
		{"line, network, one-hot", networkOf(line, index.OneHot{N: 3}, none)},
	}
}

// otherModels returns models that are not linear in theta, or that have a prior with its own features.
func otherModels() []namedModel {
	net := base.MLP{Layers: []int{2, 3, 1}, Activation: base.ActivationTanh} // groups of 9 and 4 parameters
	relu := base.MLP{Layers: []int{2, 3, 2, 1}}
	line := base.Linear{Features: 2}
	inParameters := affineIn(net, hyper.PerParameter(13, 1), index.Gaussian{N: 13}, none)
	denseInParameters := inParameters
	inParameters.Prior = &hyper.Prior{Layout: hyper.PerParameter(13, 1)}
	denseInParameters.Prior = &hyper.Prior{Layout: hyper.Dense(13, 13)}
	deep := base.MLP{Layers: []int{2, 3, 2, 1}, Activation: base.ActivationTanh}
	perGroup, perWeight := hyper.PerGroup(net, 3), hyper.PerParameter(13, 1)
	return []namedModel{
		{"MLP, dense", affineIn(net, hyper.Dense(13, 4), index.Gaussian{N: 4}, hyper.Dense(13, 4))},
		{"MLP, per group, sphere", affineIn(net, perGroup, index.Sphere{N: 6}, perGroup)},
		{"MLP, dense C, per-group prior", affineIn(net, hyper.Dense(13, 6), index.Gaussian{N: 6}, perGroup)},
		{"MLP, per parameter, no prior", affineIn(net, perWeight, index.Gaussian{N: 13}, none)},
		{"MLP, ensemble", ensembleOf(net, 3, hyper.Dense(13, 3))},
		{"MLP, network", networkOf(net, index.Gaussian{N: 3}, hyper.Dense(13, 3))},
		{"MLP, prior in the parameters", inParameters},
		{"MLP, dense prior in the parameters", denseInParameters},
		{"MLP, mean field", hyper.Model{Base: net, Hyper: hyper.MeanField{Params: 13}}},
		{"MLP, mean field, MLP prior", withPrior(hyper.Model{Base: net, Hyper: hyper.MeanField{Params: 13}}, net,
			hyper.Dense(13, 13))},
		{"MLP, dropout", hyper.Model{Base: deep, Hyper: hyper.Dropout{Net: deep, Keep: 0.6}}},
		{"ReLU MLP, dense, prior of another shape", withPrior(affineIn(relu, hyper.Dense(20, 4), index.Gaussian{N: 4}, none),
			net, hyper.Dense(13, 4))},
		{"line with an MLP prior", withPrior(affineIn(line, hyper.Dense(2, 3), index.Gaussian{N: 3}, none), net,
			hyper.Dense(13, 3))},
	}
}
