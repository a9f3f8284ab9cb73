package notebook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// specWith returns the Spec with the given settings.
func (e *explorer) specWith(set map[string]string) (spec lab.Spec, err error) {
	if spec, err = lab.ParseSpec(e.text, Known); err != nil {
		return spec, err
	}
	if text, given := set[keySeed]; given {
		if spec.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return spec, fmt.Errorf("seed: %w", err)
		}
	}
	for _, choices := range []bool{true, false} { // a choice before its own keys
		for _, entry := range spec.Entries {
			for _, k := range catalog.Keys(entry.Setting) {
				if text, given := set[k.Name]; given && (len(k.Choices) > 0) == choices {
					if err := catalog.Set(entry.Setting, k.Name, text); err != nil {
						return spec, err
					}
				}
			}
		}
	}
	return spec, spec.Validate()
}

// picture draws the beliefs and the regret for the values of the controls. arrange arranges both, for example panelsOf.
func (e *explorer) picture(ctx context.Context, set map[string]string, arrange arrangement) (p picture, err error) {
	spec, err := e.specWith(set)
	if err != nil {
		return p, err
	}
	period := spec.Periods
	if text, ok := set[keyPeriod]; ok {
		if period, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("period: %w", err)
		}
	}
	rows, beliefs, err := e.programs.beliefs(ctx, spec, period)
	if err != nil {
		return p, err
	}
	curves := analysis.Curves(lab.Header{Spec: spec}, rows)
	var agents []string
	for _, entry := range spec.Entries {
		agents = append(agents, entry.Agent)
	}
	labels := plot.Labels(curves)
	var panels []*gonum.Plot
	belief, err := plot.Beliefs(plot.Axes{Title: fmt.Sprintf("Belief after %d periods, seed %d", period, spec.Seed),
		X: "action", Y: "mean reward"}, agents, labels, beliefs)
	if err == nil {
		panels = append(panels, belief)
	}
	title := fmt.Sprintf("Regret, median and quartiles of %d runs", spec.Runs)
	if spec.Runs == 1 {
		title = "Regret of this run"
	}
	regret, err := plot.Regret(curves, plot.Options{Title: title, Labels: labels, Quartiles: true})
	if err != nil {
		return p, err
	}
	return arrange(2, exploreWidth, exploreHeight, exploreDPI, append(panels, regret)...)
}

// keysOf returns the agents' keys of a name.
func (e *explorer) keysOf(name string) (all []catalog.Key) {
	spec, err := lab.ParseSpec(e.text, Known)
	if err != nil {
		return nil
	}
	for _, entry := range spec.Entries {
		for _, k := range catalog.Keys(entry.Setting) {
			if k.Name == name {
				all = append(all, k)
			}
		}
	}
	return all
}

// needProgram reports whether a new value of a key needs a new program, for at least one agent.
func needProgram(keys []catalog.Key) bool {
	return slices.ContainsFunc(keys, func(k catalog.Key) bool { return !k.PerRun })
}

// compileAhead compiles the programs for the neighbours of the present values in the background, when no control has moved for
// a while. It compiles one after the other, and stops when a control moves.
func (e *explorer) compileAhead(set map[string]string) {
	near := e.neighbours(set)
	go func() {
		time.Sleep(exploreIdle)
		e.programs.ahead.Lock()
		defer e.programs.ahead.Unlock()
		for _, other := range near {
			e.mu.Lock()
			same := maps.Equal(e.set, set)
			e.mu.Unlock()
			if !same {
				return
			}
			if spec, err := e.specWith(other); err == nil {
				_ = e.programs.compile(spec)
			}
		}
	}()
}

// neighbours returns the settings that differ from the present ones by one step of one control, for keys that need new
// programs.
func (e *explorer) neighbours(set map[string]string) (all []map[string]string) {
	for _, k := range e.controls {
		keys := e.keysOf(k.key)
		if k.near == nil || !needProgram(keys) {
			continue
		}
		now, ok := set[k.key]
		if !ok {
			now = keys[0].Default
		}
		for _, v := range k.near(now) {
			other := maps.Clone(set)
			other[k.key] = v
			all = append(all, other)
		}
	}
	return all
}
