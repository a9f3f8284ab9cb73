package paper

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The agents of section 4.2 have settings that searches found for them (notebooks/results/tuning), with Adam and
// without perturbations. They are the defaults of package learners. The budgets of these searches were not equal; the
// searches of notebooks/results/PROTOCOL.md have equal budgets.

func neuralBandit() bandit.World { return bandit.NewNeural() }

func neuralLinear() lab.Learner       { return learners.NewLinear(false) }
func neuralEnsemble() lab.Learner     { return learners.NewEnsemble(false) }
func neuralHypernetwork() lab.Learner { return learners.NewHypernetwork(false) }
func neuralGreedy() lab.Learner       { return learners.NewSingle(false) }
func neuralDiagonal() lab.Learner     { return learners.NewDiagonal(false) }
func neuralBBB() lab.Learner          { return learners.NewMeanField(false) }
func neuralDropout() lab.Learner      { return learners.NewDropout(false) }
