package paper

import (
	"errors"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Judged is a claim with what results say of it.
type Judged struct {
	Experiment string
	Claim      lab.Claim
	Size       lab.Size // at which it was judged
	Finding    lab.Finding
	Untested   error // why there is no estimate, or nil
	// Smaller is what results of a smaller size say, where they are not enough for the claim's own. It decides nothing.
	Smaller *Judged
}

// Shown is what a table shows of the claim: what a smaller size says, where there is one.
func (j Judged) Shown() Judged {
	if j.Smaller != nil {
		return *j.Smaller
	}
	return j
}

// Judge judges a claim at a size. A claim that results cannot say anything of is not tested, or undecided where no
// setting of an agent performs well with confidence: its Finding has the reason.
func Judge(experiment string, claim lab.Claim, size lab.Size, simulate lab.Simulator) (Judged, error) {
	f, why := claim.Test(simulate, size)
	if untested(why) {
		nan := lab.Float(math.NaN())
		f = lab.Finding{Estimate: nan, Lower: nan, Upper: nan, P: nan, Bound: f.Bound, Periods: size.Periods,
			Verdict: lab.NotTested, Reason: why.Error()}
		if errors.Is(why, lab.ErrNoneBelow) { // the runs are there
			f.Verdict = lab.Undecided
		}
	} else if why != nil {
		return Judged{}, why
	}
	f.Claim = claim.Name
	return Judged{Experiment: experiment, Claim: claim, Size: size, Finding: f, Untested: why}, nil
}

// JudgeStudies judges a claim at its full size by the first of some studies, one or more, that has what it compares, else
// at a smaller size by the first that has that.
func JudgeStudies(experiment string, claim lab.Claim, studies ...lab.Simulator) (best Judged, err error) {
	for i, study := range studies {
		j, err := judgeStudy(experiment, claim, study)
		if err != nil || j.Finding.Verdict != lab.NotTested {
			return j, err
		}
		if i == 0 || best.Smaller == nil && j.Smaller != nil {
			best = j
		}
	}
	return best, nil
}

// judgeStudy judges a claim at its full size, and where a study has not come to it at the first of the smaller sizes
// that it has.
func judgeStudy(experiment string, claim lab.Claim, simulate lab.Simulator) (Judged, error) {
	j, err := Judge(experiment, claim, claim.Full, simulate)
	if err != nil || j.Finding.Verdict != lab.NotTested {
		return j, err
	}
	for _, size := range claim.Smaller {
		smaller, err := Judge(experiment, claim, size, simulate)
		if err != nil {
			return Judged{}, err
		}
		if smaller.Finding.Verdict != lab.NotTested {
			j.Smaller = &smaller
			break
		}
	}
	return j, nil
}

// JudgeAll judges the claims of experiments that are no part of the ten sentences, in an order, as the paper's are in
// Order, by studies, by the name of the experiment, with Holm's correction over all of them. A claim is judged by the
// first study that has what it compares. An experiment without a study has claims that are not tested.
func JudgeAll(order []string, studies map[string][]lab.Simulator) ([]Judged, error) {
	var all []Judged
	for _, name := range order {
		for _, claim := range Known[name].Claims {
			if claim.Sentence > 0 {
				continue
			}
			j, err := JudgeStudies(name, claim, append(studies[name], nothing)...)
			if err != nil {
				return nil, err
			}
			all = append(all, j)
		}
	}
	findings := make([]lab.Finding, len(all))
	for i, j := range all {
		findings[i] = j.Finding
	}
	for i, f := range lab.Holm(findings) {
		all[i].Finding = f
	}
	return all, nil
}

// nothing is a study without results.
func nothing([]string, []string, lab.Size) (lab.Header, []lab.Row, error) {
	return lab.Header{}, nil, lab.ErrNotInStudy
}

// untested tells whether an error says that there is nothing to estimate.
func untested(err error) bool {
	return slices.ContainsFunc([]error{lab.ErrNotInStudy, lab.ErrNoRows, lab.ErrNoneBelow, ErrNotSearched},
		func(cause error) bool { return errors.Is(err, cause) })
}
