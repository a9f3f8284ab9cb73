package learner

import "github.com/hypermodels/hypermodels/hyper/train"

// OnHost returns the training of the learner in plain Go, for one run, with the numbers of the learner itself. ok is
// false if only a compiled program can train the learner, see [train.Trainer.OnHost]. The learner must have its
// defaults.
func (l Learner) OnHost() (h train.HostTrainer, ok bool) {
	return l.trainer().OnHost(float32(l.PriorVariance), float32(l.NoiseVariance))
}
