package testbed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// FromCatalog returns an agent for a sweep that uses a learner of the catalogue, with settings as JSON: see
// [catalog.For]. If the learner is trained by SGD, it makes exactly sgdSteps steps. Classes are learned with the
// logistic loss, and without perturbations of the data. Responses are learned without standardisation, with known
// noise. All other settings are the learner's own. The error says what is wrong with the settings.
func FromCatalog(s Sweep, name, kind string, settings json.RawMessage, sgdSteps int) (Agent, error) {
	if _, err := catalog.For(kind, bandit.Problem{Features: 2}, settings); err != nil {
		return Agent{}, err
	}
	var values map[string]any
	if len(settings) > 0 {
		if err := json.Unmarshal(settings, &values); err != nil {
			return Agent{}, err
		}
	}
	perCall := divisor(sgdSteps, callSteps)
	made := fmt.Sprintf("%s %v %d", kind, values, sgdSteps) // fmt sorts the keys
	if perCall < callSteps {
		made += " exactly" // earlier code made up to 49 steps more
	}
	hash := sha256.Sum256([]byte(made))
	a := Agent{Name: name, Made: hex.EncodeToString(hash[:8]), Steps: steps(sgdSteps),
		Learner: func(inputs, _ int) learner.Learner {
			// The agent's Validate reports faults that only some shapes have.
			l, _ := catalog.For(kind, bandit.Problem{Actions: 2, Features: inputs, Moves: true}, settings)
			l.FreeSteps, l.Train.Steps = true, perCall
			if s.Kind == Classes {
				l.Train.Loss, l.Perturbation = train.LogisticLoss{}, -1
			} else {
				l.Train.Loss, l.Train.Standardize = train.Gaussian{}, false
			}
			return l
		},
	}
	if s.Kind != Classes {
		a.Numbers = func(p Problem) map[string]float64 {
			return map[string]float64{"NoiseVariance": p.Noise * p.Noise}
		}
	}
	return a, nil
}
