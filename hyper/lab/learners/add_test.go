package learners_test

import (
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// An added belief is an agent of every experiment and a learner of services, with its settings. A name that is taken is
// refused.
func TestAdd(t *testing.T) {
	must.M(learners.Add("own", hyper.NewEpinet(0)))
	t.Cleanup(func() {
		delete(learners.Known, "own")
		lab.Beliefs = lab.Beliefs[:len(lab.Beliefs)-1]
	})
	for _, x := range []lab.Experiment{paper.Gaussian, paper.Neural} {
		spec, err := x.Spec([]string{"own"}, []string{"belief-hidden=7"}, lab.Size{Periods: 2, Runs: 1}, 0)
		if err != nil || spec.Entries[0].Agent != "own" {
			t.Errorf("%s: %+v, %v", x.Name, spec.Entries, err)
		}
	}
	l, err := learners.For("own", bandit.Problem{Actions: 2, Features: 3}, []byte(`{"belief-hidden": "7"}`))
	if err != nil || l.Belief == nil {
		t.Errorf("%+v, %v", l, err)
	}
	for _, name := range []string{"own", "ensemble", ""} {
		if learners.Add(name, hyper.NewEpinet(0)) == nil {
			t.Errorf("%q was added again", name)
		}
	}
}
