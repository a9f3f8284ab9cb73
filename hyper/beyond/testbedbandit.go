package beyond

import (
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// TestbedBandit is the neural bandit of ATS via ENNs, with rewards 0 and 1, for agents of the Neural Testbed. It tests
// whether agents with good joint predictions explore well. Agents make one step of Adam on 128 data in each period, and
// use Thompson sampling.
var TestbedBandit = lab.Experiment{
	Name:    "testbed-bandit",
	Title:   "Neural bandit of rewards 0 and 1: the Neural Testbed's agents",
	Section: "section 5 of ATS via ENNs (Osband et al.)",
	World:   func() bandit.World { return bandit.NewNeuralLogistic() },
	Agents: map[string]func() lab.Learner{
		"mlp":        func() lab.Learner { return NewPlain(testbed.MLP) },
		"dropout":    func() lab.Learner { return NewPlain(testbed.Dropout) },
		"ensemble":   func() lab.Learner { return NewEnsemble() },
		"ensemble+":  func() lab.Learner { return NewEnsemblePlus() },
		"hypermodel": func() lab.Learner { return NewHypermodel() },
		"epinet":     func() lab.Learner { return NewEpinet() },
		"network-gp": func() lab.Learner { return NewNetworkGP() },
	},
	Others:  learners.Known,
	Order:   []string{"mlp", "dropout", "ensemble", "ensemble+", "hypermodel", "epinet", "network-gp"},
	Quick:   lab.Size{Periods: 500, Runs: 4, Sets: fewFeatures},
	Full:    lab.Size{Periods: 10_000, Runs: 10},
	Failure: 0.1,
}

// fewFeatures selects a small bandit.
var fewFeatures = []string{"actions=100", "features=10"}

// testbedClaims returns the claims of ATS's figure 3 at 10,000 periods, which compare each agent to the next in order,
// and a claim of this project: network-gp reaches the regret of the epinet, which had the least, with a tenth of its
// operations. The 60 runs of that claim have seeds from 1,100,000 on, which nothing else has used.
func testbedClaims() (out []study.Claim) {
	order := []string{"epinet", "hypermodel", "ensemble+", "ensemble", "mlp"}
	for i, a := range order[:len(order)-1] {
		b := order[i+1]
		out = append(out, study.Claim{
			Name: fmt.Sprintf("%s-below-%s", a, b),
			Text: fmt.Sprintf("%s has less regret than %s with 1,000 actions of 100 features (ATS, figure 3, at 10,000 periods)",
				a, b),
			Quick:   lab.Size{Periods: 500, Runs: 10, Sets: fewFeatures},
			Full:    lab.Size{Periods: 10_000, Runs: 10},
			Smaller: []lab.Size{{Periods: 10_000, Runs: 10, Sets: fewFeatures}},
			Test:    study.Comparison{A: study.NewSide(a), B: study.NewSide(b), Below: 1}.Judge,
		})
	}
	return append(out, study.Claim{
		Name: "network-gp-as-epinet",
		Text: "with a tenth of the operations network-gp has at most 1.25 times the regret of epinet, with 1,000 actions " +
			"of 100 features (ours)",
		Quick:   lab.Size{Periods: 500, Runs: 10, Sets: fewFeatures},
		Full:    lab.Size{Periods: 10_000, Runs: 60},
		Smaller: []lab.Size{{Periods: 10_000, Runs: 10}},
		Test:    study.Comparison{A: study.NewSide("network-gp"), B: study.NewSide("epinet"), Below: 1.25}.Judge,
	})
}

// Fitting holds the settings by which an agent of the testbed is trained in a bandit: by Adam, on the logistic loss of
// data that are drawn with replacement. The trained parameters add Decay ||nu||^2 / |D| to the mean loss of the |D|
// data.
type Fitting struct {
	StepSize float64 `run:"true" help:"step size of Adam"`
	Decay    float64 `run:"true" help:"lambda of the penalty lambda ||nu||^2 / |D|, which is added to the mean loss"`
	Steps    int     `key:"sgd-steps" help:"SGD steps per period"`
	Batch    int     `help:"data points per SGD step, drawn with replacement"`
	learners.Exploration
}

// fitting returns the training of ATS: one step of 1e-3 in each period, on 128 data. decay corresponds to an agent's
// decay in ATS times 2 rho, with rho = 0.1, divided by the number of particles. ATS does not print the agents' decays:
// here they are 1, and 0.2 for an epinet as in its testbed's settings.
func fitting(decay float64) Fitting {
	return Fitting{StepSize: 1e-3, Decay: decay, Steps: 1, Batch: 128,
		Exploration: learners.Exploration{Policy: explore.Thompson{}}}
}

// learner returns an agent's learner for a problem. scale multiplies the fixed prior functions; 0 is none.
func (c Fitting) learner(a testbed.Agent, scale float64, p bandit.Problem, periods int) learner.Learner {
	l := a.Learner(p.Features, periods)
	l.StepSize, l.PriorVariance, l.InitVariance, l.Policy = c.StepSize, 1/(2*c.Decay), scale*scale, c.Policy
	if scale == 0 {
		l.InitVariance = -1
	}
	l.Train.Steps, l.Train.Batch, l.Train.Capacity = c.Steps, c.Batch, periods
	return l.WithDefaults()
}

// faults reports the faults of the settings, and more faults.
func (c Fitting) faults(more ...error) error {
	return errors.Join(faults.Positive("step-size", c.StepSize), faults.Positive("decay", c.Decay),
		faults.AtLeast("sgd-steps", c.Steps, 1), faults.AtLeast("batch", c.Batch, 1), c.Check(), errors.Join(more...))
}

// Scale holds the setting of an agent with fixed prior functions.
type Scale struct {
	PriorScale float64 `run:"true" help:"multiplies the outputs of the fixed prior functions; 0 is none"`
}

func (c Scale) faults() error { return faults.NotNegative("prior-scale", c.PriorScale) }

// Members holds the setting of an ensemble.
type Members struct {
	Particles int `help:"number of networks of the ensemble"`
}

func (c Members) faults() error { return faults.AtLeast("particles", c.Particles, 1) }

// Plain holds the settings of a testbed agent without fixed prior functions: a single network, or dropout.
type Plain struct {
	agent func() testbed.Agent
	Fitting
}

// NewPlain returns the settings of such an agent in the bandit of ATS.
func NewPlain(agent func() testbed.Agent) *Plain { return &Plain{agent, fitting(0.2)} }

// Learner returns the agent's learner.
func (c *Plain) Learner(p bandit.Problem, periods int) learner.Learner {
	return c.learner(c.agent(), 0, p, periods)
}

// Validate reports every setting that is out of its range.
func (c *Plain) Validate(*bandit.Problem) error { return c.faults() }

// WithPrior holds the settings of a testbed agent with fixed prior functions: a hypermodel, or an epinet.
type WithPrior struct {
	agent func() testbed.Agent
	Fitting
	Scale
}

// NewHypermodel returns the settings of the testbed's hypermodel. Prior functions are multiplied by 1/sqrt(rho).
func NewHypermodel() *WithPrior {
	return &WithPrior{testbed.Hypermodel, fitting(0.2), Scale{rounded(1 / math.Sqrt(rho))}}
}

// NewEpinet returns the settings of the testbed's epinet. Prior functions are multiplied by 0.3/rho.
func NewEpinet() *WithPrior { return &WithPrior{testbed.Epinet, fitting(0.04), Scale{0.3 / rho}} }

// Learner returns the agent's learner.
func (c *WithPrior) Learner(p bandit.Problem, periods int) learner.Learner {
	return c.learner(c.agent(), c.PriorScale, p, periods)
}

// Validate reports every setting that is out of its range.
func (c *WithPrior) Validate(*bandit.Problem) error { return c.Fitting.faults(c.Scale.faults()) }

// Ensemble holds the settings of the testbed's ensemble, which has no prior functions.
type Ensemble struct {
	Fitting
	Members
}

// NewEnsemble returns the settings of an ensemble of 100 particles, as in the bandit of ATS.
func NewEnsemble() *Ensemble { return &Ensemble{fitting(0.2 / particles), Members{particles}} }

// Learner returns the agent's learner.
func (c *Ensemble) Learner(p bandit.Problem, periods int) learner.Learner {
	return c.learner(testbed.Ensemble(c.Particles), 0, p, periods)
}

// Validate reports every setting that is out of its range.
func (c *Ensemble) Validate(*bandit.Problem) error { return c.Fitting.faults(c.Members.faults()) }

// EnsemblePlus holds the settings of the testbed's ensemble+, which adds a fixed network to each particle.
type EnsemblePlus struct {
	Fitting
	Members
	Scale
}

// NewEnsemblePlus returns the settings of an ensemble+ of 100 particles. Prior functions are multiplied by 3/sqrt(rho).
func NewEnsemblePlus() *EnsemblePlus {
	return &EnsemblePlus{fitting(0.2 / particles), Members{particles}, Scale{rounded(3 / math.Sqrt(rho))}}
}

// Learner returns the agent's learner.
func (c *EnsemblePlus) Learner(p bandit.Problem, periods int) learner.Learner {
	return c.learner(testbed.EnsemblePlus(c.Particles), c.PriorScale, p, periods)
}

// Validate reports every setting that is out of its range.
func (c *EnsemblePlus) Validate(*bandit.Problem) error {
	return c.Fitting.faults(c.Members.faults(), c.Scale.faults())
}

// NetworkGP holds the settings of a single network plus the deviations of a Gaussian process, an agent of this project:
// see [hyper.NetworkGP].
type NetworkGP struct {
	Fitting
	Scale
	Waves  int     `help:"number of random cosines in the deviations"`
	Length float64 `help:"length scale of the cosines, times the root of the number of features"`
}

// NewNetworkGP returns settings with the network and the training of the testbed's agents.
func NewNetworkGP() *NetworkGP {
	b := hyper.NewNetworkGP(1)
	return &NetworkGP{fitting(0.2), Scale{1}, b.Waves, b.Length}
}

// Learner returns the agent's learner.
func (c *NetworkGP) Learner(p bandit.Problem, periods int) learner.Learner {
	l := c.learner(testbed.NetworkGP(), c.PriorScale, p, periods)
	b := l.Belief.(hyper.NetworkGP)
	b.Waves, b.Length = c.Waves, c.Length
	l.Belief = b
	return l
}

// Validate reports every setting that is out of its range.
func (c *NetworkGP) Validate(*bandit.Problem) error {
	return c.Fitting.faults(c.Scale.faults(), faults.AtLeast("waves", c.Waves, 1), faults.Positive("length", c.Length))
}

const (
	particles = 100 // of the testbed's ensembles
	rho       = 0.1 // the bandit's temperature
)

// rounded returns a setting rounded to two decimals, as a user would type it.
func rounded(x float64) float64 { return math.Round(100*x) / 100 }
