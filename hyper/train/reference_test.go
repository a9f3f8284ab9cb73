package train

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// This file has the paper's formulas for one run a second time: plain Go loops in double precision. They share nothing
// with the graph code except the meaning of the parameters' axes.

// referenceLoss returns L~(nu, D~, Z~) of section 2.1 for run r, with the parameters nu of that run and indices z [n,
// N_z].
func referenceLoss(p trial, r int, nu []array, z array) float64 {
	nu0 := make([]array, len(p.nu0))
	for i := range nu0 {
		nu0[i] = p.nu0[i].sub(r)
	}
	x, y, a := p.x.sub(r), p.y.sub(r), p.a.sub(r)
	loss := 0.0
	for i := range z.dims[0] {
		zi := z.sub(i).v
		theta, theta0 := referenceTheta(p.model.Hyper, nu, zi), referenceTheta(p.model.Hyper, nu0, zi)
		misfit := 0.0
		for t := range y.v {
			f := referencePredict(p, r, theta, zi, x.sub(t).v)
			u := referenceDot(p.model.Index(), a.sub(t).v, zi, x.sub(t).v)
			misfit += referenceWeight(p.Weights, u) * referenceLosses[p.Loss](f, y.v[t]+p.perturbation[r]*u)
		}
		moved := 0.0
		for j := range theta {
			moved += (theta[j] - theta0[j]) * (theta[j] - theta0[j])
		}
		loss += misfit*p.size/float64(len(y.v))/p.noiseVar[r] + moved/(2*p.priorVar[r])
	}
	return loss / float64(z.dims[0])
}

// referenceGradient returns the gradient of referenceLoss by central differences. The error is about 1e-9 here.
func referenceGradient(p trial, r int, z array) []float64 {
	const h = 1e-5
	nu := make([]array, len(p.nu))
	for i, v := range p.nu {
		nu[i] = array{v.dims[1:], append([]float64(nil), v.sub(r).v...)}
	}
	var out []float64
	for _, v := range nu {
		for j := range v.v {
			was := v.v[j]
			v.v[j] = was + h
			up := referenceLoss(p, r, nu, z)
			v.v[j] = was - h
			down := referenceLoss(p, r, nu, z)
			v.v[j] = was
			out = append(out, (up-down)/(2*h))
		}
	}
	return out
}

// referenceDot returns a^T z, with z_x for the index of section 4.1, and 0 for masks.
func referenceDot(p index.Distribution, a, z, x []float64) float64 {
	switch p.(type) {
	case index.PerArm:
		z = z[int(x[0])*len(a):]
	case index.Bernoulli:
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += a[i] * z[i]
	}
	return sum
}

// referenceTheta returns g_nu(z).
func referenceTheta(h hyper.Hypermodel, nu []array, z []float64) []float64 {
	theta := make([]float64, h.NumTheta())
	switch h := h.(type) {
	case hyper.Linear:
		for i, cz := range referenceMul(h.Layout, nu[1], z) {
			theta[i] = nu[0].v[i] + cz
		}
	case hyper.Ensemble:
		for i := range theta {
			for k := range z {
				theta[i] += nu[0].at(k, i) * z[k]
			}
		}
	case hyper.MeanField:
		for i := range theta {
			theta[i] = nu[0].v[i] + math.Log(1+math.Exp(nu[1].v[i]))*z[i]
		}
	case hyper.Dropout: // a unit's mask multiplies the weights that leave it
		copy(theta, nu[0].v)
		at, unit := h.Net.Groups()[0], 0
		for layer := 1; layer < len(h.Net.Layers)-1; layer++ {
			in, out := h.Net.Layers[layer], h.Net.Layers[layer+1]
			for o := range out {
				for i := range in {
					theta[at+o*in+i] *= z[unit+i]
				}
			}
			at, unit = at+h.Net.Groups()[layer], unit+in
		}
	case hyper.Network:
		var weights []float64
		for _, v := range nu {
			weights = append(weights, v.v...)
		}
		layers := append(append([]int{h.P.Dim()}, h.Hidden...), h.Params)
		theta = referenceMLP(base.MLP{Layers: layers, Activation: h.Activation}, weights, z)
	}
	return theta
}

// referenceMul returns B z for the entries b [rows, Width] of B.
func referenceMul(l hyper.Layout, b array, z []float64) []float64 {
	var out []float64
	for block, size := range l.Sizes {
		for range size {
			sum := 0.0
			for j := range l.Width {
				sum += b.at(len(out), j) * z[block*l.Width+j]
			}
			out = append(out, sum)
		}
	}
	return out
}

// referencePredict returns f_theta(x) + f~_{DBz}(x), or f_{theta + DBz}(x) for a prior without its own base model.
func referencePredict(p trial, r int, theta, z, x []float64) float64 {
	if p.model.Prior == nil {
		return referenceApply(p.model.Base, theta, x)
	}
	db := referenceMul(p.model.Prior.Layout, p.prior.sub(r), z)
	if p.model.Prior.Base != nil {
		return referenceApply(p.model.Base, theta, x) + referenceApply(p.model.Prior.Base, db, x)
	}
	for i := range db {
		db[i] += theta[i]
	}
	return referenceApply(p.model.Base, db, x)
}

// referenceApply returns f_theta(x).
func referenceApply(b hyper.BaseModel, theta, x []float64) float64 {
	switch b := b.(type) {
	case base.Tabular:
		return theta[int(x[0])]
	case base.Linear:
		sum := 0.0
		for i := range x {
			sum += theta[i] * x[i]
		}
		return sum
	case base.MLP:
		return referenceMLP(b, theta, x)[0]
	}
	panic("unknown base model")
}

// referenceMLP passes x through the layers. theta has the weights of a layer, output by output, and then the biases.
func referenceMLP(b base.MLP, theta, x []float64) []float64 {
	for layer := range len(b.Layers) - 1 {
		in, out := b.Layers[layer], b.Layers[layer+1]
		y := make([]float64, out)
		for o := range y {
			y[o] = theta[in*out+o]
			for i := range in {
				y[o] += theta[o*in+i] * x[i]
			}
			switch {
			case layer == len(b.Layers)-2:
			case b.Activation == base.ActivationTanh:
				y[o] = math.Tanh(y[o])
			case b.Activation != base.ActivationIdentity:
				y[o] = math.Max(y[o], 0)
			}
		}
		theta, x = theta[in*out+out:], y
	}
	return x
}
