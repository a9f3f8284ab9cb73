package lab

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// pair is a setting of two keys, in addition to a key that only its kind has.
type pair struct {
	A int `key:"a" help:"a"`
	B int `key:"b" help:"b"`
	C int `key:"c" help:"c"`
}

func (s *pair) Validate(*bandit.Problem) error { return nil }
func (s *pair) Agent(bandit.Problem) Agent     { return nil }

// toy is a setting of one key.
type toy struct {
	Arms int `help:"arms"`
}

func (s *toy) Validate(*bandit.Problem) error { return nil }
func (s *toy) Agent(bandit.Problem) Agent     { return nil }

// nowhere is a world without settings.
type nowhere struct{ bandit.World }

func (*nowhere) Validate() error         { return nil }
func (*nowhere) Problem() bandit.Problem { return bandit.Problem{} }

// A key has its given values, or else the values of the size, or else the values of the experiment, or else its
// default. The keys of the experiment vary slowest, then the keys of the size, and given keys vary fastest. A key that
// none of the agents has may be set by a size or an experiment, but must not be given.
func TestSizesAndExperimentsSets(t *testing.T) {
	x := Experiment{
		Name:  "pairs",
		World: func() bandit.World { return new(nowhere) },
		Agents: map[string]func() Learner{
			"pair": func() Learner { return &pair{1, 2, 3} }, "toy": func() Learner { return &toy{Arms: 4} },
		},
		Order: []string{"pair", "toy"},
	}
	for _, c := range []struct {
		agent                   string
		experiment, size, given []string
		want                    string // a, b, c of each entry, or the error
	}{
		{"pair", nil, nil, nil, "[{1 2 3}]"},
		{"pair", []string{"a=10"}, nil, nil, "[{10 2 3}]"},
		{"pair", nil, []string{"a=20"}, nil, "[{20 2 3}]"},
		{"pair", []string{"a=10"}, []string{"a=20"}, nil, "[{20 2 3}]"},
		{"pair", []string{"a=10"}, []string{"a=20"}, []string{"a=30"}, "[{30 2 3}]"},
		{"pair", nil, nil, []string{"a= 30, 31"}, "[{30 2 3} {31 2 3}]"},
		{"pair", nil, []string{"a=20"}, []string{"a=30"}, "[{30 2 3}]"},
		{"pair", []string{"a=10", "b=11"}, []string{"a=20"}, nil, "[{20 11 3}]"},
		{"pair", []string{"a=10,11"}, []string{"a=20"}, nil, "[{20 2 3}]"}, // a value is never taken from two sources
		{"pair", []string{"a=10"}, []string{"a=20,21"}, []string{"c=30"}, "[{20 2 30} {21 2 30}]"},
		{"pair", []string{"a=10,11"}, []string{"b=20,21"}, nil, "[{10 20 3} {10 21 3} {11 20 3} {11 21 3}]"},
		{"pair", []string{"c=7,8"}, []string{"b=20"}, []string{"a=30,31"}, "[{30 20 7} {31 20 7} {30 20 8} {31 20 8}]"},
		{"pair", []string{"arms=10"}, []string{"arms=20"}, nil, "[{1 2 3}]"},
		{"toy", []string{"arms=10"}, []string{"a=3", "arms=20"}, nil, "[{20}]"},
		{"toy", nil, nil, []string{"a=3"}, `no agent here has a key "a"; the keys are arms, delay`},
		{"pair", nil, nil, []string{"a=3,4,3"}, "a=3,4,3: 3 and 3 are the same value; give it once"},
		{"pair", nil, nil, []string{"a=3,4,+3"}, "3 and +3 are the same value"},
		{"pair", nil, []string{"a"}, nil, `"a" is not of the form key=value`},
		{"pair", nil, []string{"a=2.5"}, nil, "a=2.5: want a whole number"},
	} {
		x.Sets = c.experiment
		spec, err := x.Spec([]string{c.agent}, c.given, Size{Periods: 1, Runs: 1, Sets: c.size}, 0)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: error %v", c, err)
			}
			continue
		}
		var got []string
		for _, e := range spec.Entries {
			got = append(got, strings.TrimPrefix(fmt.Sprint(e.Setting.Learner), "&"))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: entries %v", c, got)
		}
	}
}
