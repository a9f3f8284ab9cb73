package paper

import (
	"errors"
	"fmt"
	"io/fs"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/approx"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// network identifies a network of sentence 7.
type network struct {
	measure   string
	reference approx.Reference
	points    int
	accuracy  float64 // epsilon, and delta
}

// certifiedNetworks returns the networks that sentence 7 needs, see notebooks/results/PROTOCOL.md.
func certifiedNetworks() map[network]bool {
	out := map[network]bool{}
	for _, measure := range []string{"discrete", "gaussian", "mixture", "posterior", "process"} {
		for _, reference := range []approx.Reference{approx.Uniform, approx.Gaussian} {
			for _, points := range []int{2, 3, 4, 8, 16} {
				out[network{measure, reference, points, 0.1}] = true
			}
			for _, points := range []int{2, 3} {
				out[network{measure, reference, points, 0.02}] = true
			}
		}
	}
	return out
}

// certified judges the sentence on section 6: for each of several measures, the network has an error of at most epsilon
// with probability above 1 - delta. The p-value comes from a binomial test of the worst certificate. Outside is 1,
// because a network with larger errors does not show that no better network exists.
func certified(a *study.Archive) ([]study.Comparison, error) {
	all, err := certificates(a.File("approx.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	missing := certifiedNetworks()
	wanted := len(missing)
	worst := study.Comparison{Claimed: study.Below(1), Estimate: stats.NoEstimate(), Outside: 1,
		Text: fmt.Sprintf("probability of an error above epsilon, over delta: the worst of %d networks", wanted)}
	for i, c := range all {
		if c.Epsilon == c.Delta && c.Bound == 1 {
			delete(missing, network{c.Measure, c.Reference, c.Points, c.Delta})
		}
		outside := c.Draws - c.Within
		share := stats.Float(float64(outside) / float64(c.Draws) / c.Delta)
		if i == 0 || share > worst.Estimate.Value {
			lower, upper := clopperPearson(outside, c.Draws)
			worst.Runs, worst.Estimate = c.Draws, stats.Estimate{Value: share, Lower: stats.Float(lower / c.Delta),
				Upper: stats.Float(upper / c.Delta)}
		}
		worst.Inside = max(worst.Inside, distuv.Binomial{N: float64(c.Draws), P: c.Delta}.CDF(float64(outside)))
	}
	if len(missing) > 0 {
		worst.Inside, worst.Missing = 1, fmt.Sprintf("%d of %d certificates", wanted-len(missing), wanted)
	}
	return []study.Comparison{worst}, nil
}

// clopperPearson returns the exact interval (Clopper and Pearson 1934) at [stats.Level] of a probability, from the
// number k of successes in n trials.
func clopperPearson(k, n int) (lower, upper float64) {
	tail := (1 - stats.Level) / 2
	successes, failures := float64(k), float64(n-k)
	lower, upper = 0, 1
	if k > 0 {
		lower = distuv.Beta{Alpha: successes, Beta: failures + 1}.Quantile(tail)
	}
	if k < n {
		upper = distuv.Beta{Alpha: successes + 1, Beta: failures}.Quantile(1 - tail)
	}
	return lower, upper
}

// certificates reads certificates, the output of hyper approx --json, from a file.
func certificates(file string) ([]approx.Certificate, error) {
	all, err := lines.Read[approx.Certificate](file)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Draws < 1 || c.Within < 0 || c.Within > c.Draws || !(c.Delta > 0 && c.Delta < 1) {
			return nil, fmt.Errorf("%s: not a valid certificate: %v", file, c)
		}
	}
	return all, nil
}
