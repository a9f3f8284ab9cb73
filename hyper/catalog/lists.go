package catalog

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Entry is one line of a list: a name, what the name means, and the value that the name stands for.
type Entry[T any] struct {
	Name, Doc string
	Value     T
}

// Names returns the names of the entries of a list.
func Names[T any](entries []Entry[T]) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// list holds all entries of one kind. It is safe for concurrent use.
type list[T any] struct {
	kind    string
	mutex   sync.RWMutex
	entries []Entry[T]
}

// all returns a copy of the entries.
func (l *list[T]) all() []Entry[T] {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return slices.Clone(l.entries)
}

// find returns the entry with a name, and whether there is one.
func (l *list[T]) find(name string) (e Entry[T], ok bool) {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	at := slices.IndexFunc(l.entries, func(e Entry[T]) bool { return e.Name == name })
	if at < 0 {
		return e, false
	}
	return l.entries[at], true
}

// add appends an entry. It panics if err is not nil, or if the name cannot be typed in a command or is taken. If the
// values of the list are the values of a key, it also panics if a value has the type of another one, because results
// record the name of the type.
func (l *list[T]) add(e Entry[T], err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err == nil {
		err = l.refuse(e)
	}
	if err != nil {
		panic(fmt.Sprintf("catalog: cannot add the %s %q: %v", l.kind, e.Name, err))
	}
	l.entries = append(l.entries, e)
	extended.Store(true)
}

// extended says whether the program has added an entry to a list.
var extended atomic.Bool

// Extended reports whether the program has added a part, such as a policy. Results then depend on the program's own
// code, too.
func Extended() bool { return extended.Load() }

// refuse returns an error if the list cannot have an entry.
func (l *list[T]) refuse(e Entry[T]) error {
	if !typeable.MatchString(e.Name) {
		return errors.New("a name consists of a to z, 0 to 9, - and +")
	}
	if slices.Contains(Names(l.entries), e.Name) {
		return errors.New("the name is taken")
	}
	t := reflect.TypeOf(e.Value)
	if other, taken := l.named(t); taken && t.Kind() != reflect.Func && t != reflect.TypeFor[World]() {
		return fmt.Errorf("%v is the type of %q, and results record the type: a new name needs a new type", t, other)
	}
	return nil
}

var typeable = regexp.MustCompile(`^[a-z0-9][a-z0-9+-]*$`)

// choices is a list whose entries are the values of a key.
type choices interface {
	names() []string
	choices() []Entry[any]
	value(name string) (any, bool)
	nameOf(t reflect.Type) (string, bool)
}

func (l *list[T]) names() []string { return Names(l.all()) }

// choices returns the entries, with values of any type.
func (l *list[T]) choices() (out []Entry[any]) {
	for _, e := range l.all() {
		out = append(out, Entry[any]{e.Name, e.Doc, e.Value})
	}
	return out
}

func (l *list[T]) value(name string) (any, bool) {
	e, ok := l.find(name)
	return e.Value, ok
}

// nameOf returns the name of the entry whose value has a type.
func (l *list[T]) nameOf(t reflect.Type) (string, bool) {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return l.named(t)
}

func (l *list[T]) named(t reflect.Type) (string, bool) {
	at := slices.IndexFunc(l.entries, func(e Entry[T]) bool { return reflect.TypeOf(e.Value) == t })
	if at < 0 {
		return "", false
	}
	return l.entries[at].Name, true
}

// choose adds a value of a key. runs says whether its fields may have the tag `run`.
func (l *list[T]) choose(name, doc string, value T, runs bool) {
	err := faults.Value("the value", value)
	if err == nil {
		err = checkFields(reflect.TypeOf(value), runs)
	}
	l.add(Entry[T]{name, doc, value}, err)
}

// checkFields returns an error if a field of a struct cannot be a key. runs says whether fields may have the tag `run`.
func checkFields(t reflect.Type, runs bool) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		run := f.Tag.Get("run")
		if f.Tag.Get("part") != "" && f.Type.Kind() == reflect.Pointer {
			if err := checkFields(f.Type.Elem(), runs); err != nil {
				return err
			}
		}
		switch {
		case f.Tag.Get("help") == "":
		case !f.IsExported():
			return fmt.Errorf("%v.%s has the tag help and is not exported", t, f.Name)
		case run != "" && (!runs || f.Type.Kind() != reflect.Float64):
			return fmt.Errorf("%v.%s has the tag run, which only float64 fields of worlds, learners and policies may have", t,
				f.Name)
		case run != "" && run != "true" && run != "positive":
			return fmt.Errorf("%v.%s has the tag run:%q, which must be run:\"true\" or run:\"positive\"", t, f.Name, run)
		case !slices.Contains(keyTypes, f.Type) && f.Type.Kind() != reflect.Interface,
			f.Type.Kind() == reflect.Interface && listOf(f.Type) == nil:
			return fmt.Errorf("%v.%s cannot be a key: %v is none of int, float64, bool, string, []int, and the types of "+
				"the lists of this package", t, f.Name, f.Type)
		}
	}
	return nil
}

var keyTypes = []reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
	reflect.TypeFor[string](), reflect.TypeFor[[]int]()}

// listOf returns the list of the values that a field of an interface type can have, or nil.
func listOf(t reflect.Type) choices {
	switch t {
	case reflect.TypeFor[explore.Policy]():
		return policies
	case reflect.TypeFor[train.Optimizer]():
		return optimizers
	case reflect.TypeFor[hyper.Belief]():
		return beliefs
	case reflect.TypeFor[train.Schedule]():
		return schedules
	case reflect.TypeFor[train.Loss]():
		return losses
	}
	return nil
}

// With one function, greedy and egreedy would be Thompson sampling for all beliefs but a single network.
var policies = &list[explore.Policy]{kind: "policy", entries: []Entry[explore.Policy]{
	{"thompson", "Thompson sampling: the best action of one sampled function (section 3.1)", explore.Thompson{}},
	{"ids", "variance-based information-directed sampling (section 3.2)", explore.IDS{}},
	{"greedy", "the action with the highest mean", explore.Greedy{N: 100}},
	{"egreedy", "greedy, and a random action with a probability that decreases", explore.EpsilonGreedy{N: 100, Anneal: 30}},
	{"ucb", "the action with the highest quantile of the sampled values", explore.UCB{}},
	{"top-two", "top-two Thompson sampling, for the identification of the best action", explore.TopTwo{}},
	{"squarecb", "inverse gap weighting of the means", explore.SquareCB{}},
}}

var optimizers = &list[train.Optimizer]{kind: "optimizer", entries: []Entry[train.Optimizer]{
	{"sgd", "stochastic gradient descent, the paper's optimizer", train.SGD{}},
	{"adam", "Adam", train.Adam{}},
	{"adamax", "AdaMax", train.Adamax{}},
	{"rmsprop", "RMSProp", train.RMSProp{}},
	{"momentum", "SGD with momentum", train.Momentum{}},
	{"sgld", "stochastic gradient Langevin dynamics: steps with noise", train.SGLD{}},
}}

var schedules = &list[train.Schedule]{kind: "schedule", entries: []Entry[train.Schedule]{
	{"constant", "the same step size for any number of data", train.Constant{}},
	{"inverse-root", "step sizes that fall as 1/sqrt(1 + number of data / after)", train.InverseRoot{}},
	{"cosine", "step sizes that follow a half-wave of the cosine", train.Cosine{Periods: 1000}},
}}

var losses = &list[train.Loss]{kind: "loss", entries: []Entry[train.Loss]{
	{"gaussian", "half the squared error, the paper's loss", train.Gaussian{}},
	{"logistic", "the logistic loss, for rewards 0 and 1", train.LogisticLoss{}},
}}

var beliefs = &list[hyper.Sized]{kind: "belief", entries: []Entry[hyper.Sized]{
	{"epinet", "a network plus a small network that reads the index (Osband et al. 2023)", hyper.NewEpinet(0)},
	{"last-layer", "a network whose last layer depends linearly on the index", hyper.NewLastLayer(0)},
	{"ensemble-plus-plus-neural", "Ensemble++ on the last layer of a network (Li et al. 2024)",
		hyper.NewSharedEnsemble(0)},
	{"network-gp", "a network plus the deviations of a Gaussian process", hyper.NewNetworkGP(0)},
}}

// Policies lists the exploration policies that the key policy can name.
func Policies() []Entry[explore.Policy] { return policies.all() }

// Optimizers lists the optimizers that the key optimizer can name.
func Optimizers() []Entry[train.Optimizer] { return optimizers.all() }

// Schedules lists the schedules of step sizes that the key schedule can name.
func Schedules() []Entry[train.Schedule] { return schedules.all() }

// Losses lists the losses that the key loss can name.
func Losses() []Entry[train.Loss] { return losses.all() }

// Beliefs lists the beliefs that the key belief can name. Each is also a learner, see [Learners].
func Beliefs() []Entry[hyper.Sized] { return beliefs.all() }

// AddPolicy adds a policy.
func AddPolicy(name, doc string, p explore.Policy) { policies.choose(name, doc, p, true) }

// AddOptimizer adds an optimizer.
func AddOptimizer(name, doc string, o train.Optimizer) { optimizers.choose(name, doc, o, false) }

// AddSchedule adds a schedule of step sizes.
func AddSchedule(name, doc string, s train.Schedule) { schedules.choose(name, doc, s, false) }

// AddLoss adds a loss.
func AddLoss(name, doc string, l train.Loss) { losses.choose(name, doc, l, false) }

// AddBelief adds a belief, and a learner of the same name, which is a [learners.Generic]. Its ForInputs must return the
// type of b.
func AddBelief(name, doc string, b hyper.Sized) {
	if _, taken := makers.find(name); taken {
		panic(fmt.Sprintf("catalog: cannot add the belief %q: a learner has the name", name))
	}
	if faults.Value("the value", b) == nil {
		if made := b.ForInputs(1); reflect.TypeOf(made) != reflect.TypeOf(b) { // ForInputs of a part that b embeds
			panic(fmt.Sprintf("catalog: cannot add the belief %q: ForInputs of %T returns %T; give %[2]T its own ForInputs",
				name, b, made))
		}
	}
	beliefs.choose(name, doc, b, false)
	AddLearner(name, doc, generic(b))
}
