package paper

import (
	"errors"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Judged is a claim and its judgement by results.
type Judged struct {
	Experiment string
	Claim      study.Claim
	Size       lab.Size // the size at which it was judged
	Finding    study.Finding
	Untested   error // the reason why there is no estimate, or nil
	// Smaller is the judgement at a smaller size, if the results do not suffice for the claim's own size. It is for
	// information only.
	Smaller *Judged
}

// Shown returns the judgement that a table shows: the one at a smaller size, if there is one.
func (j Judged) Shown() Judged {
	if j.Smaller != nil {
		return *j.Smaller
	}
	return j
}

// Judge judges a claim at a size. If the results do not allow a judgement, the verdict is NotTested; if no setting of
// an agent certainly performs well, it is Undecided. The Finding then has the reason.
func Judge(experiment string, claim study.Claim, size lab.Size, simulate study.Simulator) (Judged, error) {
	f, why := claim.Test(simulate, size)
	if untested(why) {
		nan := stats.Float(math.NaN())
		f = study.Finding{Estimate: nan, Lower: nan, Upper: nan, P: nan, Bound: f.Bound, Periods: size.Periods,
			Verdict: study.NotTested, Reason: why.Error()}
		if errors.Is(why, analysis.ErrNoneBelow) { // there are runs
			f.Verdict = study.Undecided
		}
	} else if why != nil {
		return Judged{}, why
	}
	f.Claim = claim.Name
	return Judged{Experiment: experiment, Claim: claim, Size: size, Finding: f, Untested: why}, nil
}

// JudgeStudies judges a claim at its full size by the first study that has the claim's runs. If there is none, it
// judges the claim at a smaller size by the first study that has these runs. It needs at least one study.
func JudgeStudies(experiment string, claim study.Claim, studies ...study.Simulator) (best Judged, err error) {
	for i, from := range studies {
		j, err := judgeStudy(experiment, claim, from)
		if err != nil || j.Finding.Verdict != study.NotTested {
			return j, err
		}
		if i == 0 || best.Smaller == nil && j.Smaller != nil {
			best = j
		}
	}
	return best, nil
}

// judgeStudy judges a claim at its full size. If the study lacks the runs, it also judges the claim at the first
// smaller size for which the study has runs.
func judgeStudy(experiment string, claim study.Claim, simulate study.Simulator) (Judged, error) {
	j, err := Judge(experiment, claim, claim.Full, simulate)
	if err != nil || j.Finding.Verdict != study.NotTested {
		return j, err
	}
	for _, size := range claim.Smaller {
		smaller, err := Judge(experiment, claim, size, simulate)
		if err != nil {
			return Judged{}, err
		}
		if smaller.Finding.Verdict != study.NotTested {
			j.Smaller = &smaller
			break
		}
	}
	return j, nil
}

// JudgeAll judges the claims of the experiments in order that do not belong to the ten sentences, with Holm's
// correction over all of them. Order is the order of the paper's claims. studies has the studies of each experiment by
// name. The first study that has a claim's runs judges the claim. The claims of an experiment without a study are not
// tested.
func JudgeAll(order []string, studies map[string][]study.Simulator) ([]Judged, error) {
	var all []Judged
	for _, name := range order {
		for _, claim := range Claims[name] {
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
	findings := make([]study.Finding, len(all))
	for i, j := range all {
		findings[i] = j.Finding
	}
	for i, f := range study.Correct(findings) {
		all[i].Finding = f
	}
	return all, nil
}

// nothing is a study without results.
func nothing([]string, []string, lab.Size) (lab.Header, []lab.Row, error) {
	return lab.Header{}, nil, analysis.ErrMissing
}

// untested reports whether an error means that there is nothing to estimate.
func untested(err error) bool {
	return slices.ContainsFunc([]error{analysis.ErrMissing, analysis.ErrNoRows, analysis.ErrNoneBelow, ErrNotSearched},
		func(cause error) bool { return errors.Is(err, cause) })
}
