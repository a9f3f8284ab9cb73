package agent

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Menu lists what a decision chooses from. The Config's [Encoding] defines which fields it needs. Without an Encoding,
// a Menu has only Actions, which hold the inputs of the belief; an empty Menu means all arms. For an agent of arms
// without a context, each action is the number of an arm: [][]float32{{2}, {0}} offers arms 2 and 0.
type Menu struct {
	Context []float32   // numbers of the context, which all actions share
	Actions [][]float32 // numbers of each action
	// Arms lists the arms to choose from, without duplicates, if actions are arms with a context; nil means all arms.
	// Decision.Action is then an index into this list.
	Arms []int
	// Deferred marks a decision that is shown later, or never: see [Agent.Shown].
	Deferred bool
}

// Encoding converts a [Menu] to inputs of the belief. An input combines the numbers of an action, or its arm, with the
// context that all actions share.
type Encoding struct {
	Context int     // number of numbers of the context
	Action  int     // number of numbers of each action; 0 if actions are arms
	Arms    int     // number of arms; 0 if actions have numbers
	Code    ArmCode // how an input represents an arm; 0 means AsOneHot
	// Cross adds the products of each number of the action, or of the one-hot arm, with each number of the context. A
	// linear belief needs these products if the value of an action depends on the context.
	Cross bool
	// Standardize subtracts from each number of the contexts and actions its mean so far, and divides by its standard
	// deviation so far. Results are clipped to [-5, 5]. The statistics include the numbers of the present Menu.
	Standardize bool
}

// ArmCode is the representation of an arm in an input.
type ArmCode int

const (
	// AsOneHot puts one number per arm before the context: 1 for the arm itself and 0 for the others.
	AsOneHot ArmCode = iota + 1
	// AsNumber puts the number of the arm before the context, as hyper.BayesianLinear with Blocks expects it.
	AsNumber
	// AsBlock makes one block of the context's size per arm: the arm's own block holds the context, and the others are
	// 0.
	AsBlock
)

func (c ArmCode) String() string { return enum.Word(c, "one-hot", "number", "block") }

// Width returns the length of an input.
func (e Encoding) Width() int {
	own := max(e.Arms, e.Action)
	switch {
	case e.Arms > 0 && e.Code == AsNumber:
		return 1 + e.Context
	case e.Arms > 0 && e.Code == AsBlock:
		return e.Arms * e.Context
	case e.Cross:
		return own + e.Context + own*e.Context
	}
	return own + e.Context
}

// Validate returns all faults of the Encoding, joined.
func (e Encoding) Validate() error {
	errs := []error{faults.AtLeast("Context", e.Context, 0), faults.AtLeast("Action", e.Action, 0),
		faults.AtLeast("Arms", e.Arms, 0), faults.Known("Code", e.Code)}
	switch {
	case e.Arms > 0 && e.Action > 0:
		errs = append(errs, errors.New("Arms and Action exclude each other: an action is an arm, or has numbers"))
	case e.Arms > 0 && e.Context < 1:
		errs = append(errs, errors.New("Arms need a Context; arms without one need no Encoding: see Config.Features"))
	case e.Arms == 0 && e.Action < 1:
		errs = append(errs, errors.New("Action or Arms must be positive: there is nothing to choose from"))
	case e.Cross && e.Arms > 0 && e.Code != AsOneHot:
		errs = append(errs, fmt.Errorf("Cross goes with Code one-hot, not %s", e.Code))
	case e.Cross && e.Context == 0:
		errs = append(errs, errors.New("Cross needs a Context"))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, faults.Size("the length of an input", e.Width()))
	}
	return errors.Join(errs...)
}

// check reports a Menu that does not match the Encoding.
func (e Encoding) check(m Menu) error {
	if len(m.Context) == 0 && e.Context > 0 {
		return fmt.Errorf("the agent decides in a context of %d numbers, and the menu has none: give it to Decide, as "+
			"Menu.Context", e.Context)
	}
	if len(m.Context) != e.Context {
		return fmt.Errorf("the context must have %d numbers, got %d", e.Context, len(m.Context))
	}
	if err := finiteNumbers("the context", m.Context); err != nil {
		return err
	}
	if e.Arms > 0 {
		return e.checkArms(m)
	}
	if len(m.Actions) == 0 || m.Arms != nil {
		return fmt.Errorf("the actions must be given, each by %d numbers, and no arms", e.Action)
	}
	for i, x := range m.Actions {
		if len(x) != e.Action {
			return fmt.Errorf("action %d must have %d numbers, got %d", i, e.Action, len(x))
		}
		if err := finiteNumbers(fmt.Sprintf("action %d", i), x); err != nil {
			return err
		}
	}
	return nil
}

// checkArms reports arms that do not exist or are given twice.
func (e Encoding) checkArms(m Menu) error {
	switch {
	case len(m.Actions) > 0:
		return fmt.Errorf("the actions are arms, which have no numbers of their own: give Menu.Arms, of 0 to %d, or nothing "+
			"for all of them", e.Arms-1)
	case m.Arms != nil && len(m.Arms) == 0:
		return fmt.Errorf("there is nothing to choose from: Menu.Arms must be some of 0 to %d, or nil for all of them",
			e.Arms-1)
	}
	given := make([]bool, e.Arms)
	for _, arm := range m.Arms {
		if arm < 0 || arm >= e.Arms {
			return fmt.Errorf("an arm must be one of 0 to %d, got %d", e.Arms-1, arm)
		}
		if given[arm] {
			return fmt.Errorf("arm %d is given twice", arm)
		}
		given[arm] = true
	}
	return nil
}

func finiteNumbers(what string, x []float32) error {
	for i, v := range x {
		if tooLarge(v) {
			return fmt.Errorf("number %d of %s is too large, or %w: it must be between -1e18 and 1e18, got %v", i, what,
				ErrNotFinite, v)
		}
	}
	return nil
}

// input joins the numbers that represent an action with a context.
func (e Encoding) input(own, context []float32) []float32 {
	x := make([]float32, 0, e.Width())
	x = append(append(x, own...), context...)
	if e.Cross {
		for _, a := range own {
			for _, c := range context {
				x = append(x, a*c)
			}
		}
	}
	return x
}

// ofArm returns the input of an arm in a context.
func (e Encoding) ofArm(arm int, context []float32) []float32 {
	switch e.Code {
	case AsNumber:
		return e.input([]float32{float32(arm)}, context)
	case AsBlock:
		x := make([]float32, e.Width())
		copy(x[arm*e.Context:], context)
		return x
	}
	one := make([]float32, e.Arms)
	one[arm] = 1
	return e.input(one, context)
}

// encoder is an Encoding with the statistics of the numbers seen so far. It is safe for concurrent use.
type encoder struct {
	Encoding
	*seen
}

// seen holds the statistics of the numbers of contexts and actions.
type seen struct {
	mu      sync.Mutex
	context spread
	action  spread
}

func newEncoder(e *Encoding) *encoder {
	if e == nil {
		return nil
	}
	return &encoder{*e, &seen{context: newSpread(e.Context), action: newSpread(e.Action)}}
}

// inputs returns the inputs of a menu that has been checked. If own is true, the numbers of the menu count in the
// statistics that standardise them.
func (e *encoder) inputs(m Menu, own bool) [][]float32 {
	if e.Standardize {
		m = e.standardised(m, own)
	}
	if e.Arms == 0 {
		x := make([][]float32, len(m.Actions))
		for i, own := range m.Actions {
			x[i] = e.input(own, m.Context)
		}
		return x
	}
	arms := m.Arms
	if arms == nil {
		arms = allArms(e.Arms)
	}
	x := make([][]float32, len(arms))
	for i, arm := range arms {
		x[i] = e.ofArm(arm, m.Context)
	}
	return x
}

// armInputs returns the inputs of arms without a context: the number of each arm.
func armInputs(arms []int) [][]float32 {
	x := make([][]float32, len(arms))
	for i, arm := range arms {
		x[i] = []float32{float32(arm)}
	}
	return x
}

func allArms(n int) []int {
	arms := make([]int, n)
	for i := range arms {
		arms[i] = i
	}
	return arms
}

// standardised returns the menu with standardised numbers.
func (e *encoder) standardised(m Menu, own bool) Menu {
	e.mu.Lock()
	context, action := e.seen.context.copied(), e.seen.action.copied()
	e.mu.Unlock()
	if own {
		count(m, &context, &action)
	}
	out := Menu{Context: context.of(m.Context), Arms: m.Arms, Actions: make([][]float32, len(m.Actions))}
	for i, x := range m.Actions {
		out.Actions[i] = action.of(x)
	}
	return out
}

// count adds the numbers of a menu to the statistics, after a decision about the menu.
func (e *encoder) count(m Menu) {
	if e == nil || !e.Standardize {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	count(m, &e.seen.context, &e.seen.action)
}

func count(m Menu, context, action *spread) {
	context.add(m.Context)
	for _, x := range m.Actions {
		action.add(x)
	}
}

// spreads returns copies of the statistics for a file; nil if numbers are not standardised.
func (e *encoder) spreads() (context, action *spread) {
	if e == nil || !e.Standardize {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c, a := e.seen.context.copied(), e.seen.action.copied()
	return &c, &a
}

// restore sets the statistics to what a file has stored.
func (e *encoder) restore(context, action *spread) {
	if e == nil || !e.Standardize {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen.context, e.seen.action = *context, *action
}

// spread has the mean and the sum of squared deviations of each number so far, by Welford (1962).
type spread struct {
	Count float64
	Mean  []float64
	M2    []float64
}

func newSpread(width int) spread {
	return spread{Mean: make([]float64, width), M2: make([]float64, width)}
}

func (s *spread) copied() spread { return spread{s.Count, slices.Clone(s.Mean), slices.Clone(s.M2)} }

func (s *spread) add(x []float32) {
	s.Count++
	for i, v := range x {
		off := float64(v) - s.Mean[i]
		s.Mean[i] += off / s.Count
		s.M2[i] += off * (float64(v) - s.Mean[i])
	}
}

// mostDeviations is the largest absolute value of a standardised number, in standard deviations.
const mostDeviations = 5

// of returns the standardised numbers. A number that has always been the same becomes 0.
func (s *spread) of(x []float32) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		if sd := math.Sqrt(s.M2[i] / max(s.Count-1, 1)); sd > 0 {
			out[i] = float32(min(max((float64(v)-s.Mean[i])/sd, -mostDeviations), mostDeviations))
		}
	}
	return out
}

// valid reports whether a spread from a file is possible for numbers of a width.
func (s spread) valid(width int) bool {
	ok := len(s.Mean) == width && len(s.M2) == width && s.Count >= 0 && !notFinite(s.Count)
	for i := range s.Mean {
		ok = ok && i < len(s.M2) && !notFinite(s.Mean[i]) && s.M2[i] >= 0 && !notFinite(s.M2[i])
	}
	return ok
}
