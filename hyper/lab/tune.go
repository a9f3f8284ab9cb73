package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// Tuning is a search for the settings of an agent by successive halving (Jamieson and Talwalkar 2016): all candidates
// are run on a few seeds, the best third on twice as many and for half as long again, and so on to the last one; or by
// a Plan. Agents that are tuned with equal Plan, Candidates, Size and Seed have equal budgets, and meet the same
// environments.
//
// With Least, the search is for the least computation that performs well, by the experiment's Target: of the candidates
// whose average regret is below it with confidence that with the least computation is best, then those whose mean is
// below it, then the others by regret. As the target is about the whole horizon, all rungs have all periods.
type Tuning struct {
	Experiment string      `json:"experiment"`
	Agent      string      `json:"agent"`
	Sets       []string    `json:"sets,omitempty"` // what all candidates share
	Space      []Dimension `json:"space"`
	Candidates int         `json:"candidates"`
	Size       Size        `json:"size"`           // of the last rung
	Plan       []Stage     `json:"plan,omitempty"` // sizes of all rungs, in place of Candidates and Size
	Seed       uint64      `json:"seed"`           // the first; evaluate on others
	// Champion is the winner of an earlier search, as "key=value" texts: the last rung has it as one of its candidates.
	Champion   []string   `json:"champion,omitempty"`
	Least      bool       `json:"least,omitempty"`
	Provenance Provenance `json:"provenance,omitzero"` // of the code that began the first rung
	Rungs      []Rung     `json:"rungs"`
}

// Stage is a rung before it is run: the number of candidates that are left for it, and the Size that they meet.
type Stage struct {
	Candidates int  `json:"candidates"`
	Size       Size `json:"size"`
}

// Budget is the number of run-periods of the search.
func (t Tuning) Budget() int {
	budget := 0
	for _, s := range t.stages() {
		budget += s.Candidates * s.Size.Runs * s.Size.Periods
	}
	return budget
}

// Rung is a round of the search.
type Rung struct {
	Size    Size      `json:"size"`
	Results []Outcome `json:"results"` // from best to worst
}

// Outcome is what a candidate did.
type Outcome struct {
	Settings map[string]string `json:"settings"`
	// cumulative regret, see Summary; +Inf for what is nil there, and in old records where a run diverged
	Mean     Float `json:"mean"`
	SE       Float `json:"se"`
	Median   Float `json:"median"`
	Diverged int   `json:"diverged"`
	// Behind is by how much the mean regret is above that of the first in the rung, over the same seeds.
	Behind   Float `json:"behind"`
	BehindSE Float `json:"behind_se"`
	Champion bool  `json:"champion,omitempty"` // the winner of an earlier search
	// Computation is that of a period, by the paper's formula; of a search for the least.
	Computation float64 `json:"computation,omitempty"`
}

// Best is the winner's settings, as "key=value" texts in the order of the keys.
func (t Tuning) Best() []string {
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

// AtEdge are the dimensions of the winner's values that lie in the outer tenth of their range, on the logarithmic
// scale, moved by half their length to that side: what to search over next. A value out of the range is a champion's.
func (t Tuning) AtEdge() (out []Dimension) {
	if len(t.Rungs) == 0 {
		return nil
	}
	winner := t.Rungs[len(t.Rungs)-1].Results[0].Settings
	for _, d := range t.Space {
		x, err := strconv.ParseFloat(winner[d.Key], 64)
		if next, ok := d.beyond(x); ok && err == nil && d.concerns(winner) {
			out = append(out, next)
		}
	}
	return out
}

// Tune runs the search and returns it with its Rungs. Called again with opts.Dir, Tune goes on.
func Tune(ctx context.Context, t Tuning, known map[string]Experiment, opts Options) (Tuning, error) {
	t, err := t.Search(known, func(rung int, spec Spec) (Header, []Row, error) {
		o := opts
		o.Dir = filepath.Join(opts.Dir, fmt.Sprintf("rung-%d", rung))
		return Simulate(ctx, spec, known, o)
	})
	if other := (*otherResults)(nil); errors.As(err, &other) {
		err = fmt.Errorf("%s holds another search, or one with another backend or batch size; choose another --out, or "+
			"go on with that one by the arguments that began it", opts.Dir)
	}
	return t, err
}

// Spec has all candidates, each for the size of the last rung: what a search without halving runs.
func (t Tuning) Spec(known map[string]Experiment) (Spec, error) {
	candidates, err := t.candidates(known)
	if err != nil {
		return Spec{}, err
	}
	stages := t.stages()
	spec := t.spec(stages[len(stages)-1].Size, candidates)
	return spec, spec.Validate()
}

// spec is that of some candidates.
func (t Tuning) spec(size Size, candidates []candidate) Spec {
	spec := Spec{Experiment: t.Experiment, Periods: size.Periods, Runs: size.Runs, Seed: t.Seed}
	for _, c := range candidates {
		spec.Entries = append(spec.Entries, c.entry)
	}
	return spec
}

// Search is Tune with rungs, from 1 on, that simulate runs. Its error ends the search; the rungs before are returned.
func (t Tuning) Search(known map[string]Experiment, simulate func(rung int, spec Spec) (Header, []Row, error)) (
	Tuning, error) {
	t.Rungs = nil
	candidates, err := t.candidates(known)
	if err != nil {
		return t, err
	}
	champion, err := t.champion(known[t.Experiment])
	if err != nil {
		return t, err
	}
	var target func(*Setting) float64
	if t.Least {
		target = known[t.Experiment].Target
	}
	stages := t.stages()
	for i, stage := range stages {
		if i+1 == len(stages) && champion != nil {
			candidates = append(candidates, *champion)
		}
		h, rows, err := simulate(i+1, t.spec(stage.Size, candidates))
		if err != nil {
			return t, err
		}
		if i == 0 {
			t.Provenance = h.Provenance
		}
		outcomes, err := judge(h, rows, candidates, target)
		if err != nil {
			return t, err
		}
		rung := Rung{Size: stage.Size}
		for _, o := range outcomes {
			rung.Results = append(rung.Results, o.Outcome)
		}
		t.Rungs = append(t.Rungs, rung)
		if i+1 < len(stages) {
			next := make([]candidate, t.fresh(i+1))
			for j := range next {
				next[j] = candidates[outcomes[j].of]
			}
			candidates = next
		}
	}
	return t, nil
}

// stages are the rungs to run: those of Plan, or thirds of the candidates.
func (t Tuning) stages() []Stage {
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

// fresh is the number of candidates of a rung that the search itself brings there: all but the champion.
func (t Tuning) fresh(rung int) int {
	stages := t.stages()
	if rung+1 == len(stages) && len(t.Champion) > 0 {
		return stages[rung].Candidates - 1
	}
	return stages[rung].Candidates
}
