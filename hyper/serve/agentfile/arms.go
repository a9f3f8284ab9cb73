package agentfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// ArmSet returns the arms with which an agent continues with a Spec. set has the agent's present arms, and names has
// their names by number. The result also has the new arms, after the present ones. last is the Spec before: the entries
// of its Like have been applied already.
func ArmSet(s api.Spec, set agent.ArmSet, names []string, last api.Spec) (agent.ArmSet, error) {
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
				return set, UnknownLike(name, given, names)
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

// UnknownLike returns the error of a new arm that should begin like an arm that has never existed.
func UnknownLike(arm, like string, names []string) error {
	return fmt.Errorf("like: arm %.40q cannot begin like %.40q%s: want one of the arms that have existed, %.200s", arm,
		like, nearest.Hint(like, names), strings.Join(names, ", "))
}
