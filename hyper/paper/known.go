package paper

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Order lists the names of the paper's experiments in the order of the paper. Known maps names to these
// experiments and to the experiments of package beyond.
var Order, Known = byName(Gaussian, Frontier, Neural, IDS, AdditivePrior, NoiseSensitivity,
	PriorSensitivity, IndexDimension, PosteriorApproximations)

// Claims maps the names of the paper's experiments, and of the experiments of package beyond, to the claims about them.
var Claims = withBeyond(map[string][]study.Claim{
	Gaussian.Name:                {linearNearExact, largerEnsembles},
	Frontier.Name:                frontierClaims(),
	Neural.Name:                  neuralClaims(),
	IDS.Name:                     sparseClaims(),
	AdditivePrior.Name:           additivePriorClaims(),
	NoiseSensitivity.Name:        noiseClaims(),
	PriorSensitivity.Name:        priorClaims(),
	IndexDimension.Name:          dimensionClaims(),
	PosteriorApproximations.Name: approximationClaims(),
})

// withBeyond adds the claims of package beyond to the paper's.
func withBeyond(claims map[string][]study.Claim) map[string][]study.Claim {
	maps.Copy(claims, beyond.Claims)
	return claims
}

// byName returns the names of experiments, and the experiments by name.
func byName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = maps.Clone(beyond.Known)
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
