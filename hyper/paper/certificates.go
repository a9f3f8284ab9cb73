package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// certificate is the output of hyper approx --json about a network of section 6.
type certificate struct {
	Measure string
	Points  int
	Epsilon float64
	Delta   float64
	Draws   int
	Within  int // number of draws whose error is at most Epsilon
}

// certified judges the sentence on section 6: for each of several measures, the network has an error of at most epsilon
// with probability above 1 - delta. The p-value comes from a binomial test of the worst certificate.
func certified(a *study.Archive) ([]study.Comparison, error) {
	all, err := certificates(a.File("approx.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	const wanted = 70
	worst := study.Comparison{Claimed: study.Below(1), Outside: 1,
		Text: fmt.Sprintf("probability of an error above epsilon, over delta: the worst of %d networks", wanted)}
	for _, c := range all {
		outside := float64(c.Draws - c.Within)
		p := distuv.Binomial{N: float64(c.Draws), P: c.Delta}.CDF(outside)
		if share := stats.Float(outside / float64(c.Draws) / c.Delta); share > worst.Estimate.Value {
			tail := (1 - stats.Level) / 2 // Clopper and Pearson 1934
			lower := distuv.Beta{Alpha: outside, Beta: float64(c.Within) + 1}.Quantile(tail)
			upper := distuv.Beta{Alpha: outside + 1, Beta: float64(c.Within)}.Quantile(1 - tail)
			worst.Runs, worst.Estimate = c.Draws, stats.Estimate{Value: share, Lower: stats.Float(lower / c.Delta),
				Upper: stats.Float(upper / c.Delta)}
		}
		worst.Inside = math.Max(worst.Inside, p)
	}
	if len(all) < wanted {
		worst.Inside, worst.Missing = 1, fmt.Sprintf("%d of %d certificates", len(all), wanted)
	}
	return []study.Comparison{worst}, nil
}

// certificates reads certificates from a file.
func certificates(file string) ([]certificate, error) {
	all, err := lines.Read[certificate](file)
	for _, c := range all {
		if c.Draws < 1 || c.Within < 0 || c.Within > c.Draws || !(c.Delta > 0 && c.Delta < 1) {
			return nil, fmt.Errorf("%s: not a valid certificate: %+v", file, c)
		}
	}
	return all, err
}
