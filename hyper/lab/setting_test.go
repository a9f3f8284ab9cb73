package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// postponed is a world that delays rewards itself.
type postponed struct{ *bandit.Gaussian }

func (w *postponed) Problem() bandit.Problem {
	p := w.Gaussian.Problem()
	p.Delays = true
	return p
}

// Rewards are not delayed twice.
func TestWorldThatDelaysRefusesDelay(t *testing.T) {
	s := must.M1(paper.Gaussian.New("linear"))
	s.World = &postponed{bandit.NewGaussian()}
	must.M(s.Validate())
	s.Delay = 3
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "delays rewards itself: leave delay at 0") {
		t.Errorf("got error %v, want one about the delay", err)
	}
}

// A Spec whose results could not be read later is refused before its first period.
func TestRunNeedsTheExperiment(t *testing.T) {
	x := paper.Gaussian
	x.Name = "my-gaussian"
	dir := filepath.Join(t.TempDir(), "out")
	spec := must.M1(x.Spec([]string{"linear"}, nil, lab.Size{Periods: 1, Runs: 1}, 0))
	_, err := lab.Run(t.Context(), spec, paper.Known, lab.Options{Dir: dir, Backend: backend.Go})
	if err == nil || !strings.Contains(err.Error(), `results of this Spec could not be read: spec: `) {
		t.Errorf("got error %v, want one about known", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made")
	}
}
