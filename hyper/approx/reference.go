package approx

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/index"
)

// Reference is a reference distribution p_z over R^K.
type Reference string

// The reference distributions: of the appendix's theorem, and of section 6's.
const (
	Uniform  Reference = "uniform"  // on [0, 1]^K
	Gaussian Reference = "gaussian" // N(0, I_K)
)

// References lists the known ones.
var References = []Reference{Uniform, Gaussian}

// Validate reports an unknown reference distribution.
func (r Reference) Validate() error {
	if r == Uniform || r == Gaussian {
		return nil
	}
	return fmt.Errorf("unknown reference %q; choose uniform or gaussian", string(r))
}

// Index is p_z as the index distribution of a hypermodel.
func (r Reference) Index(k int) index.Distribution {
	if r == Gaussian {
		return index.Gaussian{N: k}
	}
	return cube{N: k}
}

// Draw fills z with independent draws.
func (r Reference) Draw(rnd *rand.Rand, z []float64) {
	for i := range z {
		if r == Gaussian {
			z[i] = rnd.NormFloat64()
		} else {
			z[i] = rnd.Float64()
		}
	}
}

// normal maps a component of z to a standard normal number: the quantile of the normal distribution, or z itself.
func (r Reference) normal(z float64) float64 {
	if r == Gaussian {
		return z
	}
	return quantile(z)
}

// level maps a component of z to a number uniform on [0, 1].
func (r Reference) level(z float64) float64 {
	if r == Gaussian {
		return cumulative(z)
	}
	return z
}

// at is the component of z at a level: the inverse of level.
func (r Reference) at(u float64) float64 {
	if r == Gaussian {
		return quantile(u)
	}
	return u
}

// quantile is the inverse of the standard normal distribution function; -Inf at 0 and Inf at 1, and beyond.
func quantile(u float64) float64 {
	return distuv.UnitNormal.Quantile(min(max(u, 0), 1))
}

// cumulative is the standard normal distribution function.
func cumulative(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// source is a generator of its own for each seed and purpose.
func source(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
