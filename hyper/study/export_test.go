package study

// Runs makes runs available to tests: the regrets of the runs of a source by seed, and the number of diverged runs.
func (a *Archive) Runs(s Source) (regret map[uint64]float64, diverged int, err error) {
	r, err := a.runs(s)
	return r.regret, r.diverged, err
}
