package study

import (
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Claim is a statement about an experiment, as a statistical test on fresh seeds.
type Claim struct {
	Name string
	Text string // the statement, with its source
	// Sentence is the number of a [Sentence], if the claim is a part of that sentence. Committed results then answer
	// the whole sentence, and fresh runs test only the claim. Sentence is 0 for all other claims.
	Sentence int
	// Quick and Full are the sizes at which the claim is judged. Quick takes a minute or two.
	Quick, Full lab.Size
	// Smaller lists sizes at which a study that has not reached Full may show its results so far. They decide nothing.
	Smaller []lab.Size
	// Test simulates the runs that the claim needs, and judges the claim at a size. The size is Quick or Full unless
	// the caller asks for another.
	Test func(simulate Simulator, size lab.Size) (Finding, error)
}

// Size returns the size of the quick test or of the full test.
func (c Claim) Size(quick bool) lab.Size {
	if quick {
		return c.Quick
	}
	return c.Full
}

// ByName returns the names of experiments in their order, and the experiments by name.
func ByName(all ...lab.Experiment) (order []string, known map[string]lab.Experiment) {
	known = map[string]lab.Experiment{}
	for _, x := range all {
		order = append(order, x.Name)
		known[x.Name] = x
	}
	return order, known
}
