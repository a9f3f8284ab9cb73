package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/catalog/learners"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// own is a belief with a type of its own.
type own struct{ hyper.Epinet }

func (b own) ForInputs(features int) hyper.Belief {
	return own{b.Epinet.ForInputs(features).(hyper.Epinet)}
}

// squares is a loss with a type of its own.
type squares struct{ train.Gaussian }

// half is an optimizer whose setting is read as a key.
type half struct {
	train.SGD
	Factor float64 `help:"factor of the step size"`
}

// patient is a policy with a number that differs between the runs of a batch.
type patient struct {
	explore.Thompson
	Patience float64 `run:"true" help:"a number"`
}

// An added belief is an agent of every experiment and a learner of services, with its settings. A choice of each other
// kind can be named by a setting, and results record its name.
func TestAdd(t *testing.T) {
	catalog.AddBelief("own", "a belief of a test", own{hyper.NewEpinet(0)})
	catalog.AddLoss("squares", "a loss of a test", squares{})
	catalog.AddOptimizer("half", "an optimizer of a test", half{Factor: 0.5})
	catalog.AddPolicy("patient", "a policy of a test", patient{})
	catalog.AddSchedule("forever", "a schedule of a test", forever{})
	catalog.AddLearner("own-linear", "a learner of a test",
		func(arms bool) catalog.LearnerMaker { return learners.NewLinear(arms) })
	catalog.AddWorld("own-world", "a world of a test", func() bandit.World { return bandit.NewGaussian() }, "arms=3")
	sets := []string{"loss=squares", "optimizer=half", "optimizer-factor=0.25", "policy=patient",
		"policy-patience=1,2", "schedule=forever"}
	for _, x := range []lab.Experiment{paper.Gaussian, paper.Neural, must.M1(lab.Find(nil, "own-world"))} {
		spec, err := x.Spec([]string{"own", "own-linear"}, sets, lab.Size{Periods: 2, Runs: 1}, 0)
		if err != nil || len(spec.Entries) != 4 || spec.Entries[0].Agent != "own" {
			t.Fatalf("%s: %+v, %v", x.Name, spec.Entries, err)
		}
		if spec.Entries[0].Shape() != spec.Entries[1].Shape() {
			t.Errorf("%s: a number shapes the computation", x.Name)
		}
		values := catalog.Values(spec.Entries[0].Setting)
		for key, want := range map[string]any{"loss": "squares", "optimizer": "half", "optimizer-factor": 0.25,
			"policy": "patient", "belief": "own", "schedule": "forever"} {
			if values[key] != want {
				t.Errorf("%s: %s is %v", x.Name, key, values[key])
			}
		}
	}
	l, err := catalog.For("own", bandit.Problem{Actions: 2, Features: 3}, []byte(`{"belief-hidden": "7"}`))
	if b, ok := l.Belief.(own); err != nil || !ok || !slices.Equal(b.Hidden, []int{7}) || b.Features != 3 {
		t.Errorf("%+v, %v", l.Belief, err)
	}
}

type forever struct{ train.Constant }

// Each fault of an entry ends the program with a message that names the entry and the fault.
func TestAddRefuses(t *testing.T) {
	type badRun struct {
		train.SGD
		Rate float64 `run:"true" help:"a rate"`
	}
	type badKind struct {
		train.SGD
		Rate float32 `help:"a rate"`
	}
	type badTag struct {
		explore.Thompson
		Rate float64 `run:"yes" help:"a rate"`
	}
	type hidden struct {
		train.SGD
		rate int `help:"a rate"`
	}
	for want, add := range map[string]func(){
		`the policy "thompson": the name is taken`: func() { catalog.AddPolicy("thompson", "", patient{}) },
		`the policy "again": explore.Thompson is the type of "thompson"`: func() {
			catalog.AddPolicy("again", "", explore.Thompson{})
		},
		`the loss "My Loss": a name consists of`:            func() { catalog.AddLoss("My Loss", "", squares{}) },
		`the loss "none": the value is missing`:             func() { catalog.AddLoss("none", "", nil) },
		`the optimizer "pointer": the value is a pointer`:   func() { catalog.AddOptimizer("pointer", "", &half{}) },
		`Rate has the tag run, which`:                       func() { catalog.AddOptimizer("bad-run", "", badRun{}) },
		`Rate cannot be a key: float32`:                     func() { catalog.AddOptimizer("bad-kind", "", badKind{}) },
		`rate has the tag help and is not exported`:         func() { catalog.AddOptimizer("hidden", "", hidden{rate: 1}) },
		`the belief "ensemble": a learner has the name`:     func() { catalog.AddBelief("ensemble", "", own{}) },
		`the world "drifting": the name is taken`:           func() { catalog.AddWorld("drifting", "", gaussian) },
		`settings must be a pointer to a struct, got <nil>`: func() { catalog.AddWorld("none", "", none) },
		`ForInputs of catalog_test.borrowed returns hyper.Epinet; give catalog_test.borrowed its own ForInputs`: func() {
			catalog.AddBelief("borrowed", "", borrowed{hyper.NewEpinet(0)})
		},
		`the belief "none": the value is missing`:      func() { catalog.AddBelief("none", "", nil) },
		`the belief "pointer": the value is a pointer`: func() { catalog.AddBelief("pointer", "", &own{}) },
		`Rate has the tag run:"yes", which must be`:    func() { catalog.AddPolicy("bad-tag", "", badTag{}) },
		`key delay is the key of every experiment`: func() {
			catalog.AddWorld("late", "", func() bandit.World { return &late{Gaussian: bandit.NewGaussian()} })
		},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, want) {
					t.Errorf("%q, want %q", text, want)
				}
			}()
			add()
		}()
	}
}

// borrowed is a belief without its own ForInputs.
type borrowed struct{ hyper.Epinet }

// late is a world with the key delay.
type late struct {
	*bandit.Gaussian
	Delay int `help:"number of periods"`
}

// Naming the choice that an agent has keeps the settings of the choice, and naming another one sets its defaults.
func TestSameChoiceKeepsItsSettings(t *testing.T) {
	l := must.M1(catalog.Find("bayesian-linear"))(true)
	for _, c := range []struct {
		policy string
		want   any
	}{{"ucb", 0.84}, {"thompson", nil}, {"ucb", 0.0}} {
		must.M(catalog.Set(l, "policy", c.policy))
		if got := catalog.Values(l)["policy-quantile"]; got != c.want {
			t.Errorf("policy %s: got the quantile %v, want %v", c.policy, got, c.want)
		}
	}
}

// A key of two parts of settings must have one type, and every field must have a type that a key can have.
func TestShareRefuses(t *testing.T) {
	for want, s := range map[string]any{
		"two parts of the settings have the key hidden, which is int in one and []int in the other": &struct {
			A *struct {
				Hidden int `help:"a number"`
			} `part:"true"`
			B *struct {
				Hidden []int `help:"widths"`
			} `part:"true"`
		}{A: &struct {
			Hidden int `help:"a number"`
		}{3}, B: &struct {
			Hidden []int `help:"widths"`
		}{[]int{2}}},
		"the key rate cannot be float32": &struct {
			Rate float32 `help:"a rate"`
		}{0.5},
	} {
		if err := catalog.Share(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

func gaussian() bandit.World { return bandit.NewGaussian() }
func none() bandit.World     { return nil }

// A learner by its name, with settings by keys, and what the settings can be.
func ExampleFind() {
	ensemble := must.M1(catalog.Find("ensemble"))(true)
	must.M(catalog.Set(ensemble, "particles", "5"))
	must.M(catalog.Set(ensemble, "policy", "ucb"))
	must.M(catalog.Set(ensemble, "policy-quantile", "0.9"))
	p := bandit.Problem{Actions: 3}
	fmt.Println(ensemble.Validate(&p), ensemble.Learner(p, 100).Policy)
	fmt.Println(catalog.Set(ensemble, "particle", "5").Error()[:50])
	fmt.Println(catalog.NeedsChoice(ensemble, "policy-beta"))
	// Output:
	// <nil> {0 0.9}
	// unknown key "particle" (did you mean "particles"?)
	// key "policy-beta" needs policy=top-two
}

// A policy from a table of names, and its keys.
func ExamplePolicies() {
	for _, e := range catalog.Policies()[:2] {
		fmt.Println(e.Name+":", e.Doc)
	}
	for _, k := range catalog.Keys(learners.NewLinear(true))[:2] {
		fmt.Println(k.Name, k.Kind, k.Default)
	}
	// Output:
	// thompson: Thompson sampling: the best action of one sampled function (section 3.1)
	// ids: variance-based information-directed sampling (section 3.2)
	// hidden widths none
	// index-dim int 10
}

// A person may write true and false for yes and no, and a number of units for widths.
func TestSetValuesOfAPerson(t *testing.T) {
	for text, want := range map[string]string{`false`: "no", `true`: "yes", `"no"`: "no"} {
		s := learners.NewEnsemble(true)
		err := catalog.SetValues(s, []byte(`{"additive-prior": `+text+`, "hidden": 3}`))
		if got := catalog.Values(s); err != nil || got["additive-prior"] != want || got["hidden"] != "3" {
			t.Errorf("additive-prior %s: got %v with hidden %v, error %v; want %s with 3", text, got["additive-prior"],
				got["hidden"], err, want)
		}
	}
}
