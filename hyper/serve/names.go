package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// CheckNames reports a Spec that cannot continue the log of another Spec, of, which is the Spec of a folder. Arms and
// names of features may differ (see "Arms come and go" in the README); other parts that define the meaning of numbers
// must not.
func CheckNames(spec, of Spec) error {
	var errs []error
	if (len(spec.Arms) > 0) != (len(of.Arms) > 0) {
		errs = append(errs, errors.New("arms and action must be as in the folder: actions are arms "+
			"on one side, and have features on the other"))
	}
	errs = append(errs, differ("context", spec.Context, of.Context), differ("action", spec.Action, of.Action))
	return errors.Join(errs...)
}

func differ(what string, a, b Features) error {
	if a.Buckets == b.Buckets {
		return nil
	}
	return fmt.Errorf("%s.buckets must be as in the folder, %d, got %d: features that share buckets cannot be told apart",
		what, b.Buckets, a.Buckets)
}

// alike reports whether two Specs have the same features in the same order.
func alike(a, b Spec) bool {
	return slices.Equal(a.Context.Names, b.Context.Names) && slices.Equal(a.Action.Names, b.Action.Names)
}

// configWith returns the configuration of the agent that a Spec describes, with other arms. It does not check names and
// numbers, because a check needs two arms.
func configWith(s Spec, arms []string) (agent.Config, error) {
	s.Arms, s.Like = arms, nil
	return uncheckedConfig(s)
}

// armSet returns the ArmSet of a Spec, given the present arms, whose names are indexed by number. set.Names then also
// has the new names. last is the Spec before: the entries of its Like have been applied already.
func armSet(s Spec, set agent.ArmSet, names []string, last Spec) (agent.ArmSet, error) {
	if len(s.Arms) == 0 {
		return set, nil
	}
	known := len(names)
	set.Names, set.Offered = slices.Clone(names), nil
	set.Like = slices.Clone(set.Like)
	for _, name := range s.Arms {
		at, like, given := slices.Index(set.Names, name), agent.None, s.Like[name]
		if given != "" && last.Like[name] != given {
			if like = slices.Index(set.Names[:known], given); like < 0 {
				return set, unknownLike(name, given, names)
			}
			if at >= 0 && set.Like[at] != like {
				return set, fmt.Errorf("like: arm %.40q existed before, and keeps what it has learned: leave it out of "+
					"like, or give the arm another name", name)
			}
		}
		if at < 0 {
			at = len(set.Names)
			set.Names, set.Like = append(set.Names, name), append(set.Like, like)
		}
		set.Offered = append(set.Offered, at)
	}
	return set, nil
}

// unknownLike returns the error of a new arm that should begin like an arm that has never existed.
func unknownLike(arm, like string, names []string) error {
	return fmt.Errorf("like: arm %.40q cannot begin like %.40q%s: want one of the arms that have existed, %.200s", arm,
		like, nearest.Hint(like, names), strings.Join(names, ", "))
}

// specFile is the name of the file in which a server saves its Spec.
const specFile = "spec.json"

// SpecOf returns the Spec of the agent in a folder.
func SpecOf(dir string) (Spec, error) { return ReadSpec(filepath.Join(dir, specFile)) }

// lastSpec returns the Spec in a folder, or spec if the folder has none. The error says that spec cannot continue the
// folder's log.
func lastSpec(dir string, spec Spec) (Spec, error) {
	last, err := SpecOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return spec, nil
	}
	if err == nil {
		if err = CheckNames(spec, last); err != nil {
			err = fmt.Errorf("%s is the folder of a different agent; give another folder with --dir: %w", dir, err)
		}
	}
	return last, err
}

// saveSpec saves a Spec in the folder.
func saveSpec(dir string, spec Spec) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return saved.WriteFile(filepath.Join(dir, specFile), append(text, '\n'))
}

// named converts features to the form of a record, and featuresOf converts them back.
func named(f Features) journal.Named      { return journal.Named{Names: f.Names, Buckets: f.Buckets} }
func featuresOf(n journal.Named) Features { return Features{Names: n.Names, Buckets: n.Buckets} }
