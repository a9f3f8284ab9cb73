package offpolicy

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Bootstrap asks for an interval by the bootstrap of Student's statistic T, or bootstrap-t (Efron 1979; Hall 1988). It
// draws the decisions of whole logs from the log, with replacement, and uses the quantiles of T over these draws
// instead of Student's quantiles. Its time is proportional to Draws times the number of decisions. It knows nothing of
// heavy weights that do not occur in the log: see the package comment for the cost. The same Seed gives the same
// interval.
type Bootstrap struct {
	Draws int // number of drawn logs; 0 means 999
	Seed  uint64
}

func (b Bootstrap) draws() int { return cmp.Or(b.Draws, 999) }

func (b Bootstrap) validate() error {
	if err := faults.AtLeast("Bootstrap.Draws", b.draws(), 1); err != nil {
		return err
	}
	return faults.Size("Bootstrap.Draws", b.draws())
}

func (Bootstrap) asymptotic() bool { return true }

func (b Bootstrap) interval(v *evidence, level float64) (lower, upper float64, err error) {
	tail := (1 - level) / 2
	if tail*float64(b.draws()+1) < 1 {
		return 0, 0, fmt.Errorf("Bootstrap.Draws is %d: want at least %.0f for Options.Level %g", b.draws(),
			math.Ceil(1/tail)-1, level)
	}
	spread := v.stdErr * math.Sqrt(float64(len(v.terms)))
	z := make([]float64, len(v.terms)) // terms with mean 0 and standard deviation 1
	for i, x := range v.terms {
		z[i] = (x - v.value) / spread
	}
	r := rand.New(rand.NewPCG(b.Seed, 0))
	t := make([]float64, b.draws())
	for k := range t {
		t[k] = redrawn(r, z)
	}
	slices.Sort(t)
	least, greatest := stat.Quantile(tail, stat.Empirical, t, nil), stat.Quantile(1-tail, stat.Empirical, t, nil)
	if !finite(greatest - least) {
		return 0, 0, &Refusal{ErrTooFew, "bootstrap draws have terms that are all equal", "use Hall"}
	}
	return v.value - v.stdErr*greatest, v.value - v.stdErr*least, nil
}

// redrawn draws len(z) numbers from z, whose mean is 0, and returns their Student's statistic. It is infinite if all
// drawn numbers are equal.
func redrawn(r *rand.Rand, z []float64) float64 {
	n := float64(len(z))
	var sum, squares float64
	for range z {
		x := z[r.IntN(len(z))]
		sum += x
		squares += x * x
	}
	variance := (squares - sum*sum/n) / (n - 1)
	if variance <= 1e-12*squares/n {
		return math.Copysign(math.Inf(1), sum)
	}
	return sum / math.Sqrt(n*variance)
}
