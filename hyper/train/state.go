package train

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
)

// State holds what a trainer carries from period to period, by name: see [Entry]. The first axis of every node is the
// run.
type State map[string]*Node

// Entry is the name of an entry of a [State]. Saved agents hold these names. The word before the first point says what
// the entry holds, and a program that keeps a State asks the methods of Entry.
type Entry string

// The entries of the replay buffer. A buffer has either ReplayX or ReplayInputs.
const (
	ReplayX      Entry = "replay.x"      // actions, int32 [runs, capacity]
	ReplayInputs Entry = "replay.inputs" // inputs, [runs, capacity, features]
	ReplayY      Entry = "replay.y"      // responses, [runs, capacity]
)

// fixedPrefix begins the names of a belief's parameters that nothing changes. keptPrefix begins the names of values
// that data change without training.
const (
	fixedPrefix = "fixed."
	keptPrefix  = "kept."
)

// Replayed reports whether the entry belongs to the replay buffer. Its second axis is then the position of the datum.
func (e Entry) Replayed() bool { return e.begins("replay.") }

// Constant reports whether Init sets the entry and nothing changes it: the anchor nu_0, and the belief's Params.Fixed.
func (e Entry) Constant() bool { return e.begins("anchor.", fixedPrefix) }

// Learned reports whether data change the entry and predictions read it.
func (e Entry) Learned() bool { return e.Nu() || e.Responses() || e.begins(keptPrefix) }

// Nu reports whether the entry holds trained parameters: a node of Params.Nu.
func (e Entry) Nu() bool { return e.begins("nu.") }

// Anchor returns the entry that holds nu_0 for an entry of nu.
func (e Entry) Anchor() Entry { return "anchor." + e[len("nu."):] }

// Fixed returns the name in Params.Fixed of an entry that holds fixed parameters. ok is false for other entries.
func (e Entry) Fixed() (name string, ok bool) { return strings.CutPrefix(string(e), fixedPrefix) }

// Responses reports whether the entry holds statistics of the responses: see Config.Standardize.
func (e Entry) Responses() bool { return e.begins("response.") }

// moves reports whether SGD steps change the entry.
func (e Entry) moves() bool { return e.begins("nu.", "optimizer.") }

// begins reports whether the entry begins with one of the prefixes.
func (e Entry) begins(prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(string(e), p) })
}

// params returns the parameters in a state.
func params(state State) hyper.Params {
	p := hyper.Params{Nu: list(state, "nu"), Nu0: list(state, "anchor"), Fixed: map[string]*Node{},
		Kept: map[string]*Node{}}
	for i := range p.Nu {
		p.Nu[i] = ConvertDType(p.Nu[i], dtypes.Float32) // Exact keeps nu in float64
	}
	for name, v := range state {
		if rest, ok := Entry(name).Fixed(); ok {
			p.Fixed[rest] = v
		}
		if rest, ok := strings.CutPrefix(name, keptPrefix); ok {
			p.Kept[rest] = v
		}
	}
	return p
}

// key returns the name of entry number i of a group.
func key(name string, i int) string { return fmt.Sprintf("%s.%d", name, i) }

// list returns the entries name.0, name.1, ... of a state.
func list(state State, name string) []*Node {
	var out []*Node
	for {
		v, ok := state[key(name, len(out))]
		if !ok {
			return out
		}
		out = append(out, v)
	}
}
