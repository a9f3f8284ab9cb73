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

// The reference distributions: Uniform in the appendix's theorem, Gaussian in section 6's.
const (
	Uniform  Reference = "uniform"  // on [0, 1]^K
	Gaussian Reference = "gaussian" // N(0, I_K)
)

// Validate returns an error if the reference distribution is unknown.
func (r Reference) Validate() error {
	if r == Uniform || r == Gaussian {
		return nil
	}
	return fmt.Errorf("unknown reference %q; choose uniform or gaussian", string(r))
}

// index returns p_z as the index distribution of a hypermodel.
func (r Reference) index(k int) index.Distribution {
	if r == Gaussian {
		return index.Gaussian{N: k}
	}
	return cube{N: k}
}

// draw fills z with independent draws.
func (r Reference) draw(rnd *rand.Rand, z []float64) {
	for i := range z {
		if r == Gaussian {
			z[i] = rnd.NormFloat64()
		} else {
			z[i] = rnd.Float64()
		}
	}
}

// normal returns a standard normal number for a component of z: its normal quantile, or z itself.
func (r Reference) normal(z float64) float64 {
	if r == Gaussian {
		return z
	}
	return quantile(z)
}

// level returns the level of a component of z, which is uniform on [0, 1].
func (r Reference) level(z float64) float64 {
	if r == Gaussian {
		return cumulative(z)
	}
	return z
}

// at returns the component of z at a level. It is the inverse of level.
func (r Reference) at(u float64) float64 {
	if r == Gaussian {
		return quantile(u)
	}
	return u
}

// quantile returns the inverse of the standard normal distribution function at u. It is -Inf for u <= 0, and Inf for u
// >= 1.
func quantile(u float64) float64 {
	return distuv.UnitNormal.Quantile(min(max(u, 0), 1))
}

// cumulative returns the standard normal distribution function at x.
func cumulative(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// source returns a random generator that depends on the seed and on the purpose.
func source(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
