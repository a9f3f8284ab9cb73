package beyond

import (
	"errors"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
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
		"mlp":      func() lab.Learner { return fit(0.2, only(testbed.MLP)) },
		"dropout":  func() lab.Learner { return fit(0.2, only(testbed.Dropout)) },
		"ensemble": func() lab.Learner { return fit(0.2/particles, sized(testbed.Ensemble)).ensemble() },
		"ensemble+": func() lab.Learner {
			return fit(0.2/particles, sized(testbed.EnsemblePlus)).ensemble().prior(rounded(3 / math.Sqrt(rho)))
		},
		"hypermodel": func() lab.Learner { return fit(0.2, only(testbed.Hypermodel)).prior(rounded(1 / math.Sqrt(rho))) },
		"epinet":     func() lab.Learner { return fit(0.04, only(testbed.Epinet)).prior(0.3 / rho) },
		"network-gp": func() lab.Learner { return fit(0.2, only(testbed.NetworkGP)).prior(1).process() },
	},
	Order:   []string{"mlp", "dropout", "ensemble", "ensemble+", "hypermodel", "epinet", "network-gp"},
	Quick:   lab.Size{Periods: 500, Runs: 4, Sets: fewFeatures},
	Full:    lab.Size{Periods: 10_000, Runs: 10},
	Failure: 0.1,
}

// fewFeatures selects a small bandit.
var fewFeatures = []string{"actions=100", "features=10"}

// testbedClaims returns the claims of ATS's figure 3 at 10,000 periods, which compare each agent to the next in order,
// and a claim of this project: network-gp reaches the regret of the epinet, which had the least, with a tenth of its
// operations. Two claims have 60 runs, with seeds from 1,100,000 on: that one, and the first of figure 3.
func testbedClaims() (out []study.Claim) {
	order := []string{"epinet", "hypermodel", "ensemble+", "ensemble", "mlp"}
	for i, a := range order[:len(order)-1] {
		b := order[i+1]
		full, smaller := lab.Size{Periods: 10_000, Runs: 10}, []lab.Size{{Periods: 10_000, Runs: 10, Sets: fewFeatures}}
		if a == "epinet" {
			smaller = append([]lab.Size{full}, smaller...)
			full.Runs = 60
		}
		out = append(out, study.Claim{
			Name: fmt.Sprintf("%s-below-%s", a, b),
			Text: fmt.Sprintf("%s has less regret than %s with 1,000 actions of 100 features (ATS, figure 3, at 10,000 periods)",
				a, b),
			Quick:   lab.Size{Periods: 500, Runs: 10, Sets: fewFeatures},
			Full:    full,
			Smaller: smaller,
			Test:    study.RegretRatio{A: study.NewSide(a), B: study.NewSide(b), Claimed: study.Below(1)}.Test,
		})
	}
	return append(out, study.Claim{
		Name: "network-gp-as-epinet",
		Text: "with a tenth of the operations network-gp has at most 1.25 times the regret of epinet, with 1,000 actions " +
			"of 100 features (ours)",
		Quick:   lab.Size{Periods: 500, Runs: 10, Sets: fewFeatures},
		Full:    lab.Size{Periods: 10_000, Runs: 60},
		Smaller: []lab.Size{{Periods: 10_000, Runs: 10}},
		Test: study.RegretRatio{A: study.NewSide("network-gp"), B: study.NewSide("epinet"),
			Claimed: study.Below(1.25)}.Test,
	})
}

// fitted holds the settings by which an agent of the testbed is trained in a bandit: by Adam, on the logistic loss of
// data that are drawn with replacement. The trained parameters add Decay ||nu||^2 / |D| to the mean loss of the |D|
// data. The settings are as in ATS: one step of 1e-3 in each period, on 128 data. Decay corresponds to an agent's
// decay in ATS times 2 rho, with rho = 0.1, divided by the number of particles. ATS does not print the agents' decays:
// here they are 1, and 0.2 for an epinet as in its testbed's settings.
type fitted struct {
	agent    func(c *fitted) testbed.Agent
	Ensemble *ensemble `part:"true"` // nil for an agent that is no ensemble
	Prior    *scale    `part:"true"` // nil for an agent without fixed prior functions
	Process  *cosines  `part:"true"` // nil for an agent without a Gaussian process

	StepSize float64 `run:"true" help:"step size of Adam"`
	Decay    float64 `run:"true" help:"lambda of the penalty lambda ||nu||^2 / |D|, which is added to the mean loss"`
	Steps    int     `key:"sgd-steps" help:"SGD steps per period"`
	Batch    int     `help:"data points per SGD step, drawn with replacement"`
	learners.Exploration
}

type ensemble struct {
	Particles int `help:"number of networks of the ensemble"`
}

type scale struct {
	PriorScale float64 `run:"true" help:"multiplies the outputs of the fixed prior functions; 0 is none"`
}

type cosines struct {
	Waves  int     `help:"number of random cosines in the deviations"`
	Length float64 `help:"length scale of the cosines, times the root of the number of features"`
}

const (
	particles = 100 // of the testbed's ensembles
	rho       = 0.1 // the bandit's temperature
)

// rounded returns a setting rounded to two decimals, as a user would type it.
func rounded(x float64) float64 { return math.Round(100*x) / 100 }

// fit returns the settings of an agent.
func fit(decay float64, agent func(c *fitted) testbed.Agent) *fitted {
	return &fitted{agent: agent, StepSize: 1e-3, Decay: decay, Steps: 1, Batch: 128,
		Exploration: learners.Exploration{Policy: explore.Thompson{}}}
}

// only returns an agent that has no settings of its own.
func only(agent func(testbed.Kind) testbed.Agent) func(*fitted) testbed.Agent {
	return func(*fitted) testbed.Agent { return agent(testbed.Classes) }
}

// sized returns an ensemble with the number of particles that its settings have.
func sized(agent func(k testbed.Kind, n int) testbed.Agent) func(*fitted) testbed.Agent {
	return func(c *fitted) testbed.Agent { return agent(testbed.Classes, c.Ensemble.Particles) }
}

// ensemble adds the setting of an ensemble.
func (c *fitted) ensemble() *fitted {
	c.Ensemble = &ensemble{particles}
	return c
}

// prior adds the setting of fixed prior functions.
func (c *fitted) prior(x float64) *fitted {
	c.Prior = &scale{x}
	return c
}

// process adds the settings of a Gaussian process, those of [hyper.NewNetworkGP].
func (c *fitted) process() *fitted {
	b := hyper.NewNetworkGP(1)
	c.Process = &cosines{b.Waves, b.Length}
	return c
}

// Learner returns the agent's learner for a problem.
func (c *fitted) Learner(p bandit.Problem, periods int) learner.Learner {
	l := c.agent(c).Learner(p.Features, periods)
	l.StepSize, l.PriorVariance, l.InitVariance, l.Policy = c.StepSize, 1/(2*c.Decay), -1, c.Policy
	if c.Prior != nil && c.Prior.PriorScale != 0 {
		l.InitVariance = c.Prior.PriorScale * c.Prior.PriorScale
	}
	if b, ok := l.Belief.(hyper.NetworkGP); ok {
		b.Waves, b.Length = c.Process.Waves, c.Process.Length
		l.Belief = b
	}
	l.Train.Steps, l.Train.Batch, l.Train.Capacity = c.Steps, c.Batch, periods
	return l.WithDefaults()
}

// Validate returns all faults.
func (c *fitted) Validate(*bandit.Problem) error {
	errs := []error{faults.Positive("step-size", c.StepSize), faults.Positive("decay", c.Decay),
		faults.AtLeast("sgd-steps", c.Steps, 1), faults.AtLeast("batch", c.Batch, 1), c.Check()}
	if c.Ensemble != nil {
		errs = append(errs, faults.AtLeast("particles", c.Ensemble.Particles, 1))
	}
	if c.Prior != nil {
		errs = append(errs, faults.NotNegative("prior-scale", c.Prior.PriorScale))
	}
	if c.Process != nil {
		errs = append(errs, faults.AtLeast("waves", c.Process.Waves, 1), faults.Positive("length", c.Process.Length))
	}
	return errors.Join(errs...)
}
