package study

import (
	"errors"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Judgement is the result of the test of a claim at a size.
type Judgement struct {
	Experiment lab.Experiment
	Claim      Claim
	Size       lab.Size // the size at which the claim was judged
	Finding    Finding
	Untested   error // the reason why there is no estimate, or nil
	// Smaller is the judgement at a smaller size, if the results do not suffice for the claim's own size. It is for
	// information only.
	Smaller *Judgement
}

// NonePassesError is the error of a claim about the least computation with which agents perform well, if some of them
// have no setting that certainly performs well. It wraps its cause, [analysis.ErrNoneBelow].
type NonePassesError struct {
	Agents []string
	Cause  error
}

func (e NonePassesError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e NonePassesError) Unwrap() error { return e.Cause }

// Judge judges a claim at a size. If the results do not allow a judgement, the verdict is NotTested; if no setting of
// an agent certainly performs well, it is Undecided. The Finding then has the reason.
func Judge(x lab.Experiment, claim Claim, size lab.Size, simulate Simulator) (Judgement, error) {
	f, why := claim.Test(simulate, size)
	if untested(why) {
		nothing := Comparison{Claimed: Below(f.Claimed.Below), Estimate: stats.NoEstimate(), Periods: size.Periods}
		f = Finding{Comparison: nothing, P: nothing.Estimate.Value, Verdict: NotTested, Reason: why.Error()}
		if errors.Is(why, analysis.ErrNoneBelow) { // there are runs
			f.Verdict = Undecided
		}
	} else if why != nil {
		return Judgement{}, why
	}
	f.Claim = claim.Name
	return Judgement{Experiment: x, Claim: claim, Size: size, Finding: f, Untested: why}, nil
}

// untested reports whether an error means that there is nothing to estimate.
func untested(err error) bool {
	return slices.ContainsFunc([]error{analysis.ErrMissing, analysis.ErrNoRows, analysis.ErrNoneBelow},
		func(cause error) bool { return errors.Is(err, cause) })
}

// JudgeClaims judges the claims about experiments that do not belong to a [Sentence], with Holm's correction over all
// of them, by the studies of the archive. The first study that has a claim's runs judges the claim. Claims about an
// experiment without a study are not tested. The order of the result is the order of the experiments and their claims;
// claims maps names of experiments to claims. The error says so if the archive has no study of any experiment.
func (a *Archive) JudgeClaims(experiments []string, claims map[string][]Claim) ([]Judgement, error) {
	if err := a.Require(experiments...); err != nil {
		return nil, err
	}
	var all []Judgement
	for _, name := range experiments {
		studies, err := a.simulators(a.known[name])
		if err != nil {
			return nil, err
		}
		for _, claim := range claims[name] {
			if claim.Sentence > 0 {
				continue
			}
			j, err := judgeByFirst(a.known[name], claim, append(studies, noResults))
			if err != nil {
				return nil, err
			}
			all = append(all, j)
		}
	}
	findings := make([]Finding, len(all))
	for i, j := range all {
		findings[i] = j.Finding
	}
	for i, f := range Correct(findings) {
		all[i].Finding = f
	}
	return all, nil
}

// noResults is a study without results.
func noResults([]string, []string, lab.Size) (lab.Header, []lab.Row, error) {
	return lab.Header{}, nil, analysis.ErrMissing
}

// judgeByFirst judges a claim at its full size by the first study that has the claim's runs. If there is none, it
// returns the first judgement at a smaller size, for the first study that has these runs.
func judgeByFirst(x lab.Experiment, claim Claim, studies []Simulator) (best Judgement, err error) {
	for i, study := range studies {
		j, err := judgeFullOrSmaller(x, claim, study)
		if err != nil || j.Finding.Verdict != NotTested {
			return j, err
		}
		if i == 0 || best.Smaller == nil && j.Smaller != nil {
			best = j
		}
	}
	return best, nil
}

// judgeFullOrSmaller judges a claim at its full size. If the study lacks the runs, it also judges the claim at the
// first smaller size for which the study has runs.
func judgeFullOrSmaller(x lab.Experiment, claim Claim, simulate Simulator) (Judgement, error) {
	j, err := Judge(x, claim, claim.Full, simulate)
	if err != nil || j.Finding.Verdict != NotTested {
		return j, err
	}
	for _, size := range claim.Smaller {
		smaller, err := Judge(x, claim, size, simulate)
		if err != nil {
			return Judgement{}, err
		}
		if smaller.Finding.Verdict != NotTested {
			j.Smaller = &smaller
			break
		}
	}
	return j, nil
}
