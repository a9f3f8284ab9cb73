package tune_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func init() { testbackend.CompileQuickly() }

// onGo returns options for small runs in a new folder.
func onGo(t *testing.T) lab.Options {
	return lab.Options{Backend: backend.Go, BatchRuns: 8, Dir: t.TempDir()}
}

func smallTuning() tune.Search {
	return tune.Search{
		Experiment: "gaussian", Agent: "linear", Sets: []string{"arms=3", "index-dim=2", "batch=8", "index-samples=2"},
		Space: []tune.Dimension{{Key: "step-size", Low: 0.01, High: 1}, {Key: "sgd-steps", Values: []string{"1", "2"}}},
		// 10 candidates, a third of them, and a third of those: 10, 4, 2
		Candidates: 10, Size: lab.Size{Periods: 18, Runs: 8}, Seed: 5,
	}
}

// Each rung runs the best third of the candidates of the rung before, rounded up, for half as many periods again and
// with twice as many seeds. Ranges are covered evenly on a logarithmic scale, and listed values are used in turn. The
// same arguments give the same search. A second call on the same folder runs nothing.
func TestTune(t *testing.T) {
	dir := t.TempDir()
	o := lab.Options{Backend: backend.Go, BatchRuns: 8, Dir: dir}
	tuned := must.M1(tune.Run(t.Context(), smallTuning(), paper.Known, o))
	var got []string
	for _, r := range tuned.Rungs {
		got = append(got, fmt.Sprint(len(r.Results), r.Size))
	}
	if want := []string{"10 2 runs of 8 periods", "4 4 runs of 12 periods",
		"2 8 runs of 18 periods"}; !slices.Equal(got, want) {
		// 18 * 2/3 = 12, 12 * 2/3 = 8; the last rung has up to 3 candidates
		t.Errorf("rungs %v, want %v", got, want)
	}
	parts, steps := map[int]int{}, map[string]int{}
	for _, o := range tuned.Rungs[0].Results {
		var step float64
		must.M1(fmt.Sscan(o.Settings["step-size"], &step))
		parts[int(math.Log10(step/0.01)/2*10+1e-9)]++
		steps[o.Settings["sgd-steps"]]++
	}
	if len(parts) != 10 || steps["1"] != 5 || steps["2"] != 5 {
		t.Errorf("of ten parts of the range %v have a candidate, of the list %v", parts, steps)
	}
	for i, rung := range tuned.Rungs {
		for j, o := range rung.Results {
			if j > 0 && o.Mean < rung.Results[j-1].Mean {
				t.Errorf("rung %d: a mean of %v after one of %v", i, o.Mean, rung.Results[j-1].Mean)
			}
			if i > 0 && !slices.ContainsFunc(tuned.Rungs[i-1].Results[:len(rung.Results)],
				func(b tune.Outcome) bool { return reflect.DeepEqual(b.Settings, o.Settings) }) {
				t.Errorf("rung %d has %v, which was not among the best of the one before", i, o.Settings)
			}
		}
	}
	winner := tuned.Rungs[2].Results[0].Settings
	if want := []string{"sgd-steps=" + winner["sgd-steps"], "step-size=" +
		winner["step-size"]}; !slices.Equal(tuned.Best(), want) {
		t.Errorf("best %v, want %v", tuned.Best(), want)
	}

	before := lab.Compilations()
	again, err := tune.Run(t.Context(), smallTuning(), paper.Known, o)
	if n := lab.Compilations() - before; err != nil || n != 0 || !reflect.DeepEqual(again, tuned) {
		t.Errorf("called again, Tune compiled %d programs, and found %v (error %v)", n, again.Best(), err)
	}
	// A rung whose file is missing runs again, with the same result.
	must.M(os.RemoveAll(filepath.Join(dir, "rung-2")))
	again, err = tune.Run(t.Context(), smallTuning(), paper.Known, o)
	if n := lab.Compilations() - before; err != nil || n == 0 || !reflect.DeepEqual(again, tuned) {
		t.Errorf("without its second rung, Tune compiled %d programs, and found %v (error %v)", n, again.Best(), err)
	}
}

// A candidate whose runs diverge takes actions in turn, and loses more than candidates that learn.
func TestTunePutsDivergedCandidatesLast(t *testing.T) {
	x := smallTuning()
	x.Space, x.Candidates, x.Size = []tune.Dimension{{Key: "step-size", Values: []string{"1000", "0.1", "0.01"}}}, 3,
		lab.Size{Periods: 100, Runs: 2}
	tuned := must.M1(tune.Run(t.Context(), x, paper.Known, onGo(t)))
	if len(tuned.Rungs) != 1 {
		t.Fatalf("%d rungs, want 1 for 3 candidates", len(tuned.Rungs))
	}
	results := tuned.Rungs[0].Results
	if last := results[2]; last.Settings["step-size"] != "1000" || last.Diverged != 2 {
		t.Errorf("last is %+v, want the step size of 1000, diverged in both runs", last)
	}
	if results[0].Diverged != 0 || tuned.Best()[0] == "step-size=1000" {
		t.Errorf("the best diverged: %+v", results[0])
	}
	if (tune.Search{}).Best() != nil {
		t.Error("a search that was not run has a best")
	}
}

// A search may vary a key of a choice's value: the choice is set first, whatever the order of the keys.
func TestTuneSetsChoicesFirst(t *testing.T) {
	x := smallTuning()
	x.Space = nil
	for _, text := range []string{"schedule=cosine", "schedule-periods[schedule=cosine]=50", "step-size=0.01,0.1"} {
		x.Space = append(x.Space, must.M1(tune.ParseDimension(text)))
	}
	for range 20 { // maps have another order each time
		spec := must.M1(x.Spec(paper.Known))
		if v := catalog.Values(spec.Entries[0].Setting); v["schedule"] != "cosine" || v["schedule-periods"] != 50. {
			t.Fatalf("the candidate has schedule %v, schedule-periods %v", v["schedule"], v["schedule-periods"])
		}
	}
}

// A key that is searched needs no other value, even if the experiment has several.
func TestTuneSearchesAKeyThatTheExperimentSweeps(t *testing.T) {
	x := tune.Search{Experiment: "neural", Agent: "ensemble", Candidates: 2, Size: lab.Size{Periods: 20, Runs: 1},
		Space: []tune.Dimension{must.M1(tune.ParseDimension("particles=20,40"))}}
	if spec := must.M1(x.Spec(paper.Known)); len(spec.Entries) != 2 {
		t.Errorf("%d entries, want a candidate for each of two values", len(spec.Entries))
	}
}

func TestTuneRefuses(t *testing.T) {
	before := lab.Compilations()
	for want, change := range map[string]func(*tune.Search){
		"unknown experiment":     func(x *tune.Search) { x.Experiment = "gaussain" },
		"has no agent":           func(x *tune.Search) { x.Agent = "foo" },
		"at least one candidate": func(x *tune.Search) { x.Candidates = 0 },
		"and one key":            func(x *tune.Search) { x.Space = nil },
		"describe 2 agents":      func(x *tune.Search) { x.Sets = []string{"arms=2,3"} },
		`key "foo"`:              func(x *tune.Search) { x.Space[0].Key = "foo" },
		"want a whole number": func(x *tune.Search) {
			x.Space[1] = tune.Dimension{Key: "sgd-steps", Low: 1.5,
				High: 1.7}
		},
		`key "step-size" is searched over twice`: func(x *tune.Search) {
			x.Space = append(x.Space, tune.Dimension{Key: "step-size", When: "sgd-steps=2", Low: 1, High: 2})
		},
		`"arms" belongs to the world`: func(x *tune.Search) {
			x.Sets, x.Space[1] = x.Sets[1:], tune.Dimension{Key: "arms", Values: []string{"3", "4"}}
		},
		`"delay" belongs to the world`: func(x *tune.Search) {
			x.Space[1] = tune.Dimension{Key: "delay", Values: []string{"0", "1"}}
		},
		"sgd-steps must be at least": func(x *tune.Search) { x.Space[1].Values = []string{"0"} },
		"runs must be at least 1":    func(x *tune.Search) { x.Size.Runs = 0 },
	} {
		x := smallTuning()
		change(&x)
		_, err := tune.Run(t.Context(), x, paper.Known, onGo(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if n := lab.Compilations() - before; n != 0 {
		t.Errorf("%d programs were compiled", n)
	}
}

func TestParseDimension(t *testing.T) {
	for text, want := range map[string]tune.Dimension{
		"step-size=0.001:1": {Key: "step-size", Low: 0.001, High: 1},
		"clip=0,1,5":        {Key: "clip", Values: []string{"0", "1", "5"}},
		"index-set=frame":   {Key: "index-set", Values: []string{"frame"}},
	} {
		if got, err := tune.ParseDimension(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, error %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "step-size", "=1:2", "step-size=", "x=0:1", "x=-1:1", "x=2:1", "x=1:1", "x=1:Inf",
		"x=NaN:1", "x=1:NaN", "x=a:b", "x=1:2:3", "x=1:"} {
		if d, err := tune.ParseDimension(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: %+v, error %v", text, d, err)
		}
	}
}

// A search may have the same key twice if no candidate has both. A value that is listed twice is tried twice as often.
func TestSpaceWithAKeyTwice(t *testing.T) {
	x := smallTuning()
	x.Space = nil
	for _, text := range []string{"optimizer=adam,adam,sgd", "step-size[optimizer=adam]=0.001:0.01",
		"step-size[optimizer=sgd]=0.1:1"} {
		x.Space = append(x.Space, must.M1(tune.ParseDimension(text)))
	}
	x.Candidates = 9
	spec := must.M1(x.Spec(paper.Known))
	adam := 0
	for _, e := range spec.Entries {
		if catalog.Values(e.Setting)["optimizer"] == "adam" {
			adam++
		}
	}
	if adam != 6 {
		t.Errorf("%d of 9 candidates have adam, want 6", adam)
	}
}

// The winner of an earlier search is one of the candidates of the last round, and is marked there. It takes the
// place of another candidate. A winner at the edge of a range shows where to search next.
func TestTuneChampion(t *testing.T) {
	x := smallTuning()
	x.Space = []tune.Dimension{{Key: "step-size", Low: 0.5, High: 1}}
	x.Plan = []tune.Stage{{Candidates: 4, Size: lab.Size{Periods: 8, Runs: 3}},
		{Candidates: 2, Size: lab.Size{Periods: 12, Runs: 4}}}
	x.Champion = []string{"step-size=0.02", "sgd-steps=2"}
	tuned := must.M1(tune.Run(t.Context(), x, paper.Known, onGo(t)))
	var champions []map[string]string
	for _, o := range tuned.Rungs[1].Results {
		if o.Champion {
			champions = append(champions, o.Settings)
		}
	}
	want := []map[string]string{{"step-size": "0.02", "sgd-steps": "2"}}
	if len(tuned.Rungs[1].Results) != 2 || !reflect.DeepEqual(champions, want) {
		t.Errorf("champions %v of %d candidates, want %v of 2", champions, len(tuned.Rungs[1].Results), want)
	}
	for text, champion := range map[string][]string{
		"the champion":               {"step-size=fast"},
		"at least two candidates in": {"step-size=0.02"},
	} {
		y := x
		y.Champion, y.Plan = champion, slices.Clone(x.Plan)
		if len(text) > 15 {
			y.Plan[1].Candidates = 1
		}
		if _, err := tune.Run(t.Context(), y, paper.Known, lab.Options{Backend: backend.Go}); err == nil ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("champion %v: error %v, want %q", champion, err, text)
		}
	}

	for value, want := range map[string]string{"0.00996": "step-size[optimizer=sgd]=0.001:0.1", "0.009": "",
		"1.004": "step-size[optimizer=sgd]=0.1:10", "0.011": "step-size[optimizer=sgd]=0.001:0.1", "0.1": "",
		"0.9": "step-size[optimizer=sgd]=0.1:10", "3": ""} {
		at := tune.Search{Space: []tune.Dimension{{Key: "step-size", When: "optimizer=adam", Low: 0.8, High: 8},
			{Key: "step-size", When: "optimizer=sgd", Low: 0.01, High: 1}, {Key: "clip", Values: []string{"0"}}},
			Rungs: []tune.Rung{{Results: []tune.Outcome{{Settings: map[string]string{"step-size": value,
				"optimizer": "sgd", "clip": "0"}}}}}}
		var got []string
		for _, d := range at.AtEdge() {
			got = append(got, d.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("a winner with step size %s is at the edge as %v, want %q", value, got, want)
		}
	}
}

// An experiment's own settings are used for keys that have no given values. The first of their keys varies slowest, and
// given keys vary fastest. An agent that lacks a key is not affected.
func TestExperimentSets(t *testing.T) {
	x := paper.Gaussian
	x.Sets = []string{"particles=2,3", "arms=4"}
	show := func(agents []string, sets ...string) string {
		s := must.M1(x.Spec(agents, sets, lab.Size{Periods: 1, Runs: 1}, 0))
		var out []string
		for _, e := range s.Entries {
			v := catalog.Values(e.Setting)
			out = append(out, fmt.Sprint(e.Agent, " ", v["arms"], " ", v["particles"], " ", v["batch"]))
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct{ got, want string }{
		{show([]string{"ensemble"}), "ensemble 4 2 1024; ensemble 4 3 1024"},
		{show([]string{"ensemble"}, "particles=7"), "ensemble 4 7 1024"},
		{show([]string{"ensemble"}, "batch=8,16"), "ensemble 4 2 8; ensemble 4 2 16; ensemble 4 3 8; ensemble 4 3 16"},
		{show([]string{"ensemble", "exact"}, "arms=5,6", "particles=7"),
			"ensemble 5 7 1024; ensemble 6 7 1024; exact 5 <nil> <nil>; exact 6 <nil> <nil>"},
		{show([]string{"exact"}), "exact 4 <nil> <nil>"}, // lacks particles; no error for a key that was not given
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// With Least, all rungs of a search have all periods. Candidates below the target with confidence rank first, by
// computation; then those with the mean below the target, by computation; then the others, by regret.
func TestTuneLeast(t *testing.T) {
	for name, c := range map[string]struct {
		target float64
		by     func(tune.Outcome) float64
	}{
		"by computation where all perform well": {1e6, func(o tune.Outcome) float64 { return o.Computation }},
		"by regret where none does":             {0, func(o tune.Outcome) float64 { return float64(o.Mean) }},
	} {
		x := paper.Frontier
		x.Target = func(*lab.Setting) float64 { return c.target }
		known := map[string]lab.Experiment{"frontier": x}
		search := smallTuning()
		search.Experiment, search.Least, search.Candidates = "frontier", true, 6
		search.Space = []tune.Dimension{{Key: "step-size", Low: 0.1, High: 0.5},
			{Key: "sgd-steps", Values: []string{"1", "2", "3"}}}
		tuned := must.M1(tune.Run(t.Context(), search, known, onGo(t)))
		for _, r := range tuned.Rungs {
			if r.Size.Periods != 18 {
				t.Errorf("a rung of %v, want all 18 periods", r.Size)
			}
			if !slices.IsSortedFunc(r.Results, func(a, b tune.Outcome) int { return cmp.Compare(c.by(a), c.by(b)) }) {
				t.Errorf("%s: %+v", name, r.Results)
			}
		}
		// n_sgd n_z n_data n_params = sgd-steps x 2 x 8 x 3 (2 + 1)
		if best := tuned.Rungs[0].Results[0]; best.Settings["sgd-steps"] == "1" && best.Computation != 144 {
			t.Errorf("computation %v, want 144", best.Computation)
		}
	}
	x := smallTuning()
	x.Least = true
	if _, err := tune.Run(t.Context(), x, paper.Known, onGo(t)); err == nil {
		t.Error("a search for the least computation of an experiment without a target is not refused")
	}
}

// A plan sets the candidates, runs and periods of each round. A search may vary a key only if another key has some
// value: the other candidates do not have it. The record states how far each candidate is behind the first on the same
// seeds.
func TestTuneByPlan(t *testing.T) {
	x := smallTuning()
	x.Space = []tune.Dimension{
		{Key: "optimizer", Values: []string{"adam", "sgd"}},
		{Key: "step-size", When: "optimizer=adam", Low: 0.001, High: 0.01},
		{Key: "step-size", When: "optimizer=sgd", Low: 0.1, High: 1},
	}
	x.Plan = []tune.Stage{{Candidates: 6, Size: lab.Size{Periods: 8, Runs: 3}},
		{Candidates: 3, Size: lab.Size{Periods: 12, Runs: 4}}}
	tuned := must.M1(tune.Run(t.Context(), x, paper.Known, onGo(t)))
	for i, r := range tuned.Rungs {
		if r.Size.String() != x.Plan[i].Size.String() || len(r.Results) != x.Plan[i].Candidates {
			t.Errorf("rung %d: %d candidates, %v", i+1, len(r.Results), r.Size)
		}
		first := r.Results[0]
		for _, o := range r.Results {
			if gap := float64(o.Mean - first.Mean); math.Abs(float64(o.Behind)-gap) > 1e-4*float64(first.Mean) {
				t.Errorf("rung %d: %v behind by %v, want %v", i+1, o.Settings, o.Behind, gap)
			}
		}
	}
	count := map[string]int{}
	for _, o := range tuned.Rungs[0].Results {
		var step float64
		must.M1(fmt.Sscan(o.Settings["step-size"], &step))
		count[o.Settings["optimizer"]]++
		if adam := o.Settings["optimizer"] == "adam"; adam != (step <= 0.01) {
			t.Errorf("a step size out of its range: %v", o.Settings)
		}
	}
	if count["adam"] != 3 || count["sgd"] != 3 {
		t.Errorf("optimizers: %v", count)
	}

	for want, change := range map[string]func(*tune.Search){
		"no key before it in the search":   func(x *tune.Search) { x.Space[1].When = "optimizer=adamax" },
		"keeps the best candidates of the": func(x *tune.Search) { x.Plan[1].Candidates = 7 },
		"round 2 of the search has 0 runs": func(x *tune.Search) { x.Plan[1].Size.Runs = 0 },
	} {
		y := x
		y.Space, y.Plan = slices.Clone(x.Space), slices.Clone(x.Plan)
		change(&y)
		if _, err := y.Spec(paper.Known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	d, err := tune.ParseDimension("step-size[optimizer=sgd]=0.1:1")
	if err != nil || !reflect.DeepEqual(d, x.Space[2]) {
		t.Errorf("%+v, error %v; want %+v", d, err, x.Space[2])
	}
}

// The agent that Winner describes is the agent that the search ran, in every experiment that has results of searches
// and for every size.
func TestWinnerIsTheAgentOfTheSearch(t *testing.T) {
	values := map[string]string{"sgd-steps": "3", "step-size": "0.0123"}
	asked := 0
	for name, x := range paper.Known {
		for _, agent := range x.Order {
			if !slices.ContainsFunc(x.Tuned, func(r lab.SearchResult) bool { return r.Agent == agent }) {
				continue
			}
			asked++
			s := tune.Search{Experiment: name, Agent: agent, Sets: []string{"batch=5"}, Candidates: 2,
				Size: lab.Size{Runs: 1, Periods: 10}, Rungs: []tune.Rung{{Results: []tune.Outcome{{Settings: values}}}}}
			for _, set := range x.Sets { // a search has one value of each key
				key, listed, _ := strings.Cut(set, "=")
				if first, _, several := strings.Cut(listed, ","); several && catalog.HasKey(must.M1(x.New(agent)), key) {
					s.Sets = append(s.Sets, key+"="+first)
				}
			}
			sets := must.M1(s.Winner(x))
			defaults := x
			defaults.Tuned = nil
			ran := must.M1(defaults.Spec([]string{agent}, append(s.Sets, "sgd-steps=3", "step-size=0.0123"), s.Size, 1))
			want := catalog.Values(ran.Entries[0].Setting)
			for _, size := range []lab.Size{x.Quick, x.Full, {Runs: 1, Periods: 100_000}} {
				spec := must.M1(x.Spec([]string{agent}, sets, size, 1))
				if got := catalog.Values(spec.Entries[0].Setting); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, agent %s, %v, settings %v: got %v, want %v", name, agent, size, sets, got, want)
				}
			}
		}
	}
	if asked < 12 {
		t.Errorf("%d agents have results of searches, want more", asked)
	}
	if sets, err := (tune.Search{}).Winner(paper.Neural); err == nil {
		t.Errorf("without a winner: settings %v, want an error", sets)
	}
}
