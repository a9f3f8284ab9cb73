package paper

import (
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Order lists the names of the paper's experiments in the order of the paper, and Known has the experiments by name.
var Order, Known = study.ByName(Gaussian, Frontier, Neural, IDS, AdditivePrior, NoiseSensitivity,
	PriorSensitivity, IndexDimension, PosteriorApproximations)

// Claims maps the names of the paper's experiments to the claims about them.
var Claims = map[string][]study.Claim{
	Gaussian.Name:                {linearNearExact, largerEnsembles},
	Frontier.Name:                frontierClaims(),
	Neural.Name:                  neuralClaims(),
	IDS.Name:                     sparseClaims(),
	AdditivePrior.Name:           additivePriorClaims(),
	NoiseSensitivity.Name:        noiseClaims(),
	PriorSensitivity.Name:        priorClaims(),
	IndexDimension.Name:          dimensionClaims(),
	PosteriorApproximations.Name: approximationClaims(),
}
