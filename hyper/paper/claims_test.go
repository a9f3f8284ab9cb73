package paper_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// recorded is a simulator that keeps all its results as one study.
type recorded struct {
	h    lab.Header
	rows []lab.Row
}

func (r *recorded) simulate(with study.Simulator) study.Simulator {
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		h, rows, err := with(agents, sets, size)
		for _, row := range rows {
			row.Entry += len(r.h.Spec.Entries)
			r.rows = append(r.rows, row)
		}
		entries := slices.Concat(r.h.Spec.Entries, h.Spec.Entries)
		r.h = h
		r.h.Spec.Entries = entries
		return h, rows, err
	}
}

// A study judges a claim if it has the claim's runs and periods, or more runs. It does not judge the claim with other
// periods, with fewer runs, or if the two sides have enough runs but different seeds.
func TestClaimsWantTheirSize(t *testing.T) {
	for _, name := range paper.Order {
		x := paper.Known[name]
		for i, claim := range paper.Claims[name] {
			if testing.Short() && i > 0 {
				break
			}
			with := madeUp(x, 1e-3)
			if name == "frontier" {
				with = performing(map[string]int{"linear": 0, "ensemble": 0})
			}
			var study recorded
			if _, err := claim.Test(study.simulate(with), claim.Quick); err != nil {
				t.Fatalf("%s, claim %s: got error %v, want none", name, claim.Name, err)
			}
			of := func(rows []lab.Row, size lab.Size) error {
				_, err := claim.Test(analysis.Lookup(x, study.h, rows), size)
				return err
			}
			fewer, more, longer, shorter := claim.Quick, claim.Quick, claim.Quick, claim.Quick
			fewer.Runs, more.Runs, longer.Periods, shorter.Periods = fewer.Runs-1, more.Runs+1, 2*longer.Periods,
				shorter.Periods/2
			if err := errors.Join(of(study.rows, claim.Quick), of(study.rows, fewer)); err != nil {
				t.Errorf("%s, claim %s: a study of its size, or with one more run: got error %v", name, claim.Name, err)
			}
			for what, err := range map[string]error{"fewer runs": of(study.rows, more),
				"fewer periods": of(study.rows, longer), "more periods": of(study.rows, shorter)} {
				if !errors.Is(err, analysis.ErrMissing) {
					t.Errorf("%s, claim %s, study of %s: got error %v, want ErrMissing", name, claim.Name, what, err)
				}
			}
			shifted := slices.Clone(study.rows)
			for i := range shifted {
				shifted[i].Seed += uint64(shifted[i].Entry)
			}
			if err := of(shifted, claim.Quick); len(study.h.Spec.Entries) > 1 && !errors.Is(err, analysis.ErrMissing) &&
				!errors.Is(err, analysis.ErrNoRows) {
				t.Errorf("%s, claim %s, sides with other seeds: got error %v", name, claim.Name, err)
			}
			if err := of(nil, claim.Quick); !errors.Is(err, analysis.ErrMissing) {
				t.Errorf("%s, claim %s, study without rows: got error %v, want ErrMissing", name, claim.Name, err)
			}
		}
	}
}
