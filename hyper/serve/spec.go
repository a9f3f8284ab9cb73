package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Spec describes an agent in a JSON file for a service: the options to choose from, by name, and the learner that
// chooses, with its settings.
type Spec struct {
	// Arms has the names of the options, if each decision chooses among these options, or among some of them. Without
	// Arms, each decision lists its actions by their features.
	Arms []string `json:"arms,omitempty"`
	// Like names, for a new arm, the present or former arm with whose belief it begins: {"newer": "new"}. Other new
	// arms begin with the prior.
	Like map[string]string `json:"like,omitempty"`
	// Context has the features that all actions of a decision share; Action has the features of each action.
	Context Features `json:"context,omitzero"`
	Action  Features `json:"action,omitzero"`
	// Cross adds the products of features of the action with features of the context.
	Cross bool `json:"cross,omitempty"`
	// Raw uses features as they are; otherwise they are standardised online.
	Raw bool `json:"raw,omitempty"`
	// Learner is a name in catalog.Learners. "" means bayesian-linear, or the learner of agent.Arms for arms without a
	// context. Set has its settings.
	Learner string          `json:"learner,omitempty"`
	Set     json.RawMessage `json:"set,omitempty"`

	Seed       uint64   `json:"seed,omitempty"`
	Floor      float64  `json:"floor,omitempty"`      // see agent.Config
	Pending    int      `json:"pending,omitempty"`    // see agent.Config
	Expire     Duration `json:"expire,omitempty"`     // see agent.Config
	Reward     Waiting  `json:"reward,omitzero"`      // what decisions with no reward or several rewards teach
	Replay     string   `json:"replay,omitempty"`     // growth, reservoir or window
	Capacity   int      `json:"capacity,omitempty"`   // largest number of data kept
	Change     Change   `json:"change,omitzero"`      // test of change
	Background float64  `json:"background,omitempty"` // share of the time for training; 0 trains when rewards arrive
	Backend    string   `json:"backend,omitempty"`
}

// Features names features: see agent.Names.
type Features struct {
	Names   []string `json:"names,omitempty"`
	Buckets int      `json:"buckets,omitempty"`
}

// namesOf returns the names of features in the form of package agent.
func namesOf(f Features) agent.Names { return agent.Names{Known: f.Names, Buckets: f.Buckets} }

// Change is agent.Change; without Run there is no test.
type Change struct {
	Run     float64 `json:"run"`               // see agent.Change
	Restart bool    `json:"restart,omitempty"` // whether the agent begins anew at an alarm
}

// Waiting is agent.Reward: how long the agent waits for the rewards of a decision, and what it learns then.
type Waiting struct {
	Wait    Duration `json:"wait,omitempty"`
	Default *float32 `json:"default,omitempty"` // reward of a decision without one; if nil, it teaches nothing
	Combine string   `json:"combine,omitempty"` // first, sum, max or last; "" means first
}

// rewardOf returns the agent.Reward of a Waiting.
func rewardOf(w Waiting) (agent.Reward, error) {
	r := agent.Reward{Wait: time.Duration(w.Wait), Default: w.Default}
	if w.Combine == "" {
		return r, nil
	}
	if r.Combine = enum.Of[agent.Combine](w.Combine); r.Combine == 0 {
		return r, fmt.Errorf("reward.combine must be first, sum, max or last, got %q", w.Combine)
	}
	return r, nil
}

// Duration is a time.Duration that JSON has as text, such as "36h".
type Duration time.Duration

// UnmarshalText parses a text as time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// MarshalText returns the text of a Duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// mostSpec is the largest size of a Spec's file in bytes.
const mostSpec = 1 << 20

// ReadSpec reads a Spec from a file and checks it.
func ReadSpec(path string) (Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return Spec{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSpec+1))
	if err == nil && len(text) > mostSpec {
		err = fmt.Errorf("it has more than %d bytes", mostSpec)
	}
	var s Spec
	if err == nil {
		err = strict.JSON(text, &s)
	}
	if err == nil {
		_, err = Config(s)
	}
	return s, faults.Prefix(path+": ", err)
}

// decode reads one JSON value strictly: see package strict.
func decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return strict.JSON(text, v)
}

// Config returns the configuration of the agent that a Spec describes. The error joins everything that is wrong.
func Config(s Spec) (agent.Config, error) {
	if err := errors.Join(checkNames(s), checkNumbers(s)); err != nil {
		return agent.Config{}, err
	}
	c, err := uncheckedConfig(s)
	if err == nil && len(s.Like) > 0 && !c.AddsArms() {
		err = fmt.Errorf("like must be left out: learner %q has no separate belief for each arm, and learns anew from the "+
			"log if arms are added", kind(s))
	}
	return c, err
}

// uncheckedConfig is Config without the checks of names and numbers.
func uncheckedConfig(s Spec) (agent.Config, error) {
	c := agent.Config{Seed: s.Seed, Floor: s.Floor, Pending: s.Pending, Expire: time.Duration(s.Expire),
		Backend: s.Backend}
	if s.Background > 0 {
		c.Background = &agent.Background{CPU: s.Background}
	}
	if s.Change != (Change{}) {
		c.Change = &agent.Change{Run: s.Change.Run, Restart: s.Change.Restart}
	}
	var err error
	if c.Reward, err = rewardOf(s.Reward); err != nil {
		return c, err
	}
	problem := bandit.Problem{Actions: len(s.Arms)}
	if e := encoding(s); e != nil {
		if err := e.Validate(); err != nil {
			return c, err
		}
		c.Encoding, c.Features = e, e.Width()
		problem.Features, problem.Moves = e.Width(), true
		if e.Code == agent.AsNumber {
			problem.Blocks, problem.Numbered = e.Arms, true
		}
	}
	if err := setLearner(&c, s, problem); err != nil {
		return c, err
	}
	c.Learner.Train.Capacity = s.Capacity
	if s.Replay != "" {
		if c.Replay, err = replayOf(s.Replay); err != nil {
			return c, err
		}
	}
	return c, nil
}

// setLearner sets the learner of a configuration. Weights of feedback need a learner whose training supports them.
func setLearner(c *agent.Config, s Spec, p bandit.Problem) error {
	if alone := c.Encoding == nil; alone && s.Learner == "" {
		noise, err := armNoise(s)
		if err != nil {
			return err
		}
		c.Learner.NoiseVariance = noise
		*c = c.Arms(len(s.Arms))
		c.Learner.Train.Weighted = true
		return nil
	} else if alone && s.Learner == bayesian {
		return errors.New("learner bayesian-linear needs a context; leave learner out for arms alone")
	}
	l, err := catalog.For(kind(s), p, s.Set)
	if err != nil {
		return err
	}
	l.Train.Weighted = l.Train.Integrate == train.Sampled || l.Train.Integrate == train.Exact
	c.Learner = l
	return nil
}

// armNoise returns the noise variance of arms without a context and without a learner, which is their only setting; 0
// means the default.
func armNoise(s Spec) (float64, error) {
	var set struct {
		NoiseVariance *float64 `json:"noise-variance"`
	}
	if len(s.Set) == 0 {
		return 0, nil
	}
	if err := strict.WithoutNull(s.Set, &set); err != nil {
		return 0, fmt.Errorf("set: %w; arms without a context only take noise-variance, and other settings need learner, "+
			"a kind of `hyper list`", err)
	}
	v := set.NoiseVariance
	if v == nil {
		return 0, nil
	}
	if !(*v > 0) || math.IsInf(*v, 0) {
		return 0, fmt.Errorf("set: noise-variance must be positive and finite, got %v", *v)
	}
	return *v, nil
}

const bayesian = "bayesian-linear"

// kind returns the name of the learner.
func kind(s Spec) string { return cmp.Or(s.Learner, bayesian) }

// encoding returns the Encoding of the Spec's numbers, or nil for arms without a context.
func encoding(s Spec) *agent.Encoding {
	context, action := namesOf(s.Context).Len(), namesOf(s.Action).Len()
	if len(s.Arms) > 0 && context == 0 {
		return nil
	}
	e := &agent.Encoding{Context: context, Action: action, Arms: len(s.Arms), Cross: s.Cross, Standardize: !s.Raw,
		Code: agent.AsOneHot}
	if len(s.Arms) > 0 && kind(s) == bayesian {
		e.Code = agent.AsNumber
	}
	return e
}

// checkNames reports names that are wrong or missing.
func checkNames(s Spec) error {
	errs := []error{faults.Prefix("context: ", namesOf(s.Context).Validate()),
		faults.Prefix("action: ", namesOf(s.Action).Validate())}
	switch {
	case len(s.Arms) > 0 && namesOf(s.Action).Len() > 0:
		errs = append(errs, errors.New("arms and action exclude each other: actions have names, or features"))
	case len(s.Arms) == 0 && namesOf(s.Action).Len() == 0:
		errs = append(errs, errors.New("arms or action must be given: there is nothing to choose from"))
	case len(s.Arms) == 1:
		errs = append(errs, errors.New("arms must have at least two names"))
	}
	for i, arm := range s.Arms {
		if arm == "" || slices.Contains(s.Arms[:i], arm) {
			errs = append(errs, fmt.Errorf("arms must have different names, got %q at place %d", arm, i))
		}
	}
	for _, arm := range slices.Sorted(maps.Keys(s.Like)) {
		switch {
		case !slices.Contains(s.Arms, arm):
			errs = append(errs, fmt.Errorf("like: arm %.40q is not in arms: leave it out of like, or add it to arms", arm))
		case s.Like[arm] == arm, s.Like[arm] == "":
			errs = append(errs, fmt.Errorf("like: arm %.40q must begin like another arm, got %.40q", arm, s.Like[arm]))
		}
	}
	return errors.Join(errs...)
}

func replayOf(word string) (agent.Replay, error) {
	if r := enum.Of[agent.Replay](word); r != 0 {
		return r, nil
	}
	return 0, fmt.Errorf("replay must be growth, reservoir or window, got %q", word)
}
