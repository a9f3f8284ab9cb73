// Package tune searches for the settings of an agent with little regret, by successive halving.
//
//	search := tune.Search{Experiment: "gaussian", Agent: "linear", Seed: 2_000_000,
//		Candidates: 10, Size: lab.Size{Periods: 1000, Runs: 16},
//		Space: []tune.Dimension{{Key: "step-size", Low: 0.01, High: 1}}}
//	search, err := tune.Run(ctx, search, paper.Known, lab.Options{Dir: "hyper-out/tune"})
//	...
//	fmt.Println(search.Best()) // [step-size=0.31]
//
// A [Search] states the candidates and the sizes of its rungs, and keeps their results. Its JSON is the record of the
// search.
package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Search is a search for the settings of an agent by successive halving (Jamieson and Talwalkar 2016). All candidates
// run on a few seeds. The best third of them then runs with twice as many seeds and 1.5 times as many periods, and so
// on to the last rung. A Plan can set other sizes. Agents whose searches have equal Plan, Candidates, Size and Seed
// have equal budgets and run in the same environments.
//
// With Least, the search finds the least computation that performs well, by the experiment's Target. Candidates whose
// average regret is below the target with confidence rank first, and the one with the least computation is the best.
// Then follow the candidates whose mean is below the target, and then the others by regret. Because the target concerns
// the whole horizon, all rungs have all periods.
type Search struct {
	Experiment string      `json:"experiment"`
	Agent      string      `json:"agent"`
	Own        *Own        `json:"own,omitempty"`  // what Agent is, if it is not an agent or a learner
	Sets       []string    `json:"sets,omitempty"` // settings that all candidates share
	Space      []Dimension `json:"space"`
	Candidates int         `json:"candidates"`
	Size       lab.Size    `json:"size"`           // size of the last rung
	Plan       []Stage     `json:"plan,omitempty"` // sizes of all rungs; replaces Candidates and Size
	Seed       uint64      `json:"seed"`           // the first seed; evaluate the winner on other seeds
	// Champion is the winner of an earlier search, as "key=value" texts. It is one of the candidates of the last rung.
	Champion   []string       `json:"champion,omitempty"`
	Least      bool           `json:"least,omitempty"`
	Provenance lab.Provenance `json:"provenance,omitzero"` // the code that began the first rung
	Rungs      []Rung         `json:"rungs"`
}

// Own is an agent of one's own: a learner of the catalogue, with values of keys.
type Own struct {
	Learner  string                     `json:"learner"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// experiment returns the experiment of the search, with the agent of one's own.
func (t Search) experiment(known map[string]lab.Experiment) (lab.Experiment, error) {
	x, err := lab.Find(known, t.Experiment)
	if err != nil || t.Own == nil {
		return x, err
	}
	settings, err := json.Marshal(t.Own.Settings)
	if err != nil {
		return x, err
	}
	return x.WithLearner(t.Agent, t.Own.Learner, settings)
}

// Stage is a rung before it is run: the number of candidates that remain, and the Size of their runs.
type Stage struct {
	Candidates int      `json:"candidates"`
	Size       lab.Size `json:"size"`
}

// Rung is a round of the search with its results.
type Rung struct {
	Size    lab.Size  `json:"size"`
	Results []Outcome `json:"results"` // from best to worst
}

// Outcome is the result of a candidate in a rung.
type Outcome struct {
	Settings map[string]string `json:"settings"`
	// Mean, SE and Median describe cumulative regret, see [analysis.Summary]. They are +Inf if the Summary has nil, and
	// in old records if a run diverged.
	Mean     stats.Float `json:"mean"`
	SE       stats.Float `json:"se"`
	Median   stats.Float `json:"median"`
	Diverged int         `json:"diverged"`
	// Behind is the difference between the candidate's mean regret and the mean regret of the first in the rung, over
	// the same seeds.
	Behind   stats.Float `json:"behind"`
	BehindSE stats.Float `json:"behind_se"`
	Champion bool        `json:"champion,omitempty"` // whether the candidate is the winner of an earlier search
	// Computation is the computation per period by the paper's formula. It is set if the search has Least.
	Computation float64 `json:"computation,omitempty"`
}

// Best returns the values of the searched keys that won, and of the keys that a champion brings, as "key=value" texts in the order of the keys.
func (t Search) Best() []string {
	if len(t.Rungs) == 0 {
		return nil
	}
	var out []string
	for key, value := range t.Rungs[len(t.Rungs)-1].Results[0].Settings {
		out = append(out, key+"="+value)
	}
	slices.Sort(out)
	return out
}

// Winner returns "key=value" texts with which x.Spec makes the agent that won: t.Sets, t.Best, and the values of keys
// that x would set otherwise. A search starts from the agent's defaults, but Spec starts from x.Tuned, the results of
// earlier searches, and from the Sets of a size.
func (t Search) Winner(x lab.Experiment) ([]string, error) {
	values, err := t.Values(x)
	if err != nil {
		return nil, err
	}
	best := t.Best()
	others := slices.Concat(t.Sets, x.Quick.Sets, x.Full.Sets)
	for _, r := range x.Tuned {
		if r.Agent == t.Agent {
			others = append(others, r.Sets...)
		}
	}
	for _, set := range others {
		key, _, _ := strings.Cut(set, "=")
		given := func(set string) bool { return strings.HasPrefix(set, key+"=") }
		if value, ok := values[key]; ok && !slices.ContainsFunc(best, given) {
			best = append(best, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return best, nil
}

// Values returns the values of all keys of the agent that won, and of its world.
func (t Search) Values(x lab.Experiment) (map[string]any, error) {
	if len(t.Rungs) == 0 {
		return nil, errors.New("the search has no winner yet")
	}
	c, err := t.candidate(x, t.Rungs[len(t.Rungs)-1].Results[0].Settings)
	if err != nil {
		return nil, err
	}
	return catalog.Values(c.entry.Setting), nil
}

// AtEdge returns ranges to search next: for each of the winner's values in the outer tenth of its range, on the
// logarithmic scale, the range moved by half its length towards that side. A value that rounding to three digits moved
// out of its range is in the outer tenth. Only a champion's value can be farther outside; it gives no range.
func (t Search) AtEdge() (out []Dimension) {
	if len(t.Rungs) == 0 {
		return nil
	}
	winner := t.Rungs[len(t.Rungs)-1].Results[0].Settings
	for _, d := range t.Space {
		x, err := strconv.ParseFloat(winner[d.Key], 64)
		if next, ok := d.shifted(x); ok && err == nil && d.concerns(winner) {
			out = append(out, next)
		}
	}
	return out
}

// RecordFile is the name of the record of a search in the folder of the search.
const RecordFile = "tune.json"

// Save writes the record of the search to RecordFile in a folder.
func (t Search) Save(dir string) error {
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return err
	}
	return saved.WriteFile(filepath.Join(dir, RecordFile), append(text, '\n'))
}

// ReadSearch reads the record of a search.
func ReadSearch(file string) (t Search, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("%s is not a record of hyper tune: %w", file, err)
	}
	return t, nil
}

// RungDir returns the folder of a rung in the folder of a search. Rungs count from 1.
func RungDir(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("rung-%d", number))
}

// Run runs the search and returns it with its Rungs. If opts.Dir holds a part of the same search, Run continues it.
func Run(ctx context.Context, t Search, known map[string]lab.Experiment, opts lab.Options) (Search, error) {
	t, err := t.RunWith(known, func(rung int, spec lab.Spec) (lab.Header, []lab.Row, error) {
		o := opts
		o.Dir = RungDir(opts.Dir, rung)
		return lab.Simulate(ctx, spec, known, o)
	})
	if errors.Is(err, lab.ErrOtherResults) {
		err = fmt.Errorf("%s holds another search, or a search with another backend or batch size; choose another "+
			"--out, or continue that search with the arguments that began it", opts.Dir)
	}
	return t, err
}

// Spec returns a Spec of all candidates with the size of the last rung. A search without halving runs it.
func (t Search) Spec(known map[string]lab.Experiment) (lab.Spec, error) {
	_, candidates, err := t.candidates(known)
	if err != nil {
		return lab.Spec{}, err
	}
	stages := t.stages()
	spec := t.spec(stages[len(stages)-1].Size, candidates)
	return spec, spec.Validate()
}

// spec returns a Spec of some candidates.
func (t Search) spec(size lab.Size, candidates []candidate) lab.Spec {
	spec := lab.Spec{Experiment: t.Experiment, Periods: size.Periods, Runs: size.Runs, Seed: t.Seed}
	for _, c := range candidates {
		spec.Entries = append(spec.Entries, c.entry)
	}
	return spec
}

// Simulate runs a Spec of the candidates of a rung to its end. Rungs count from 1.
type Simulate func(rung int, spec lab.Spec) (lab.Header, []lab.Row, error)

// RunWith is [Run] with a function that simulates each rung. An error of simulate ends the search, and the rungs before
// it are returned.
func (t Search) RunWith(known map[string]lab.Experiment, simulate Simulate) (Search, error) {
	t.Rungs = nil
	x, candidates, err := t.candidates(known)
	if err != nil {
		return t, err
	}
	for _, d := range t.Space { // else the easiest world would win
		if catalog.HasKey(candidates[0].entry.Setting.World, d.Key) || d.Key == "delay" {
			return t, fmt.Errorf("key %q belongs to the world, but a search compares settings of an agent in one world: "+
				"give it one value by --set", d.Key)
		}
	}
	champion, err := t.champion(x)
	if err != nil {
		return t, err
	}
	last := len(t.stages()) - 1
	for i := range t.stages() {
		if i == last && champion != nil {
			candidates = append(candidates, *champion)
		}
		if candidates, err = t.rung(x, i, candidates, simulate); err != nil {
			return t, err
		}
		if i < last {
			candidates = candidates[:t.fresh(i+1)]
		}
	}
	return t, nil
}

// rung simulates the candidates of a rung, counted from 0, and adds the Rung to the search. It returns the candidates
// from best to worst.
func (t *Search) rung(x lab.Experiment, number int, candidates []candidate, simulate Simulate) ([]candidate, error) {
	size := t.stages()[number].Size
	h, rows, err := simulate(number+1, t.spec(size, candidates))
	if err != nil {
		return nil, err
	}
	var target func(*lab.Setting) float64
	if t.Least {
		target = x.Target
	}
	outcomes, err := judge(h, rows, candidates, target)
	if err != nil {
		return nil, err
	}
	if number == 0 {
		t.Provenance = h.Provenance
	}
	rung := Rung{Size: size}
	var sorted []candidate
	for _, o := range outcomes {
		rung.Results, sorted = append(rung.Results, o.Outcome), append(sorted, candidates[o.index])
	}
	t.Rungs = append(t.Rungs, rung)
	return sorted, nil
}

// stages returns the rungs to run: the Plan, or rungs that each keep a third of the candidates.
func (t Search) stages() []Stage {
	if len(t.Plan) > 0 {
		return t.Plan
	}
	var out []Stage
	size := t.Size
	for n := t.Candidates; ; n = (n + 2) / 3 {
		out = append(out, Stage{n, size})
		if n <= 3 {
			break
		}
		size.Runs = max(1, size.Runs/2)
		if !t.Least {
			size.Periods = max(1, size.Periods*2/3)
		}
	}
	for i := range len(out) / 2 { // the last rung is the largest
		j := len(out) - 1 - i
		out[i].Size, out[j].Size = out[j].Size, out[i].Size
	}
	return out
}

// fresh returns the number of candidates of a rung that the search itself produces: all except the champion.
func (t Search) fresh(rung int) int {
	stages := t.stages()
	if rung+1 == len(stages) && len(t.Champion) > 0 {
		return stages[rung].Candidates - 1
	}
	return stages[rung].Candidates
}
