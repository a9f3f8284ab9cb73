package plot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// mostShown is the maximum number of actions that are drawn.
const mostShown = 20

// Beliefs draws the beliefs of agents about each action: a bar from two standard deviations of the agent's functions
// below their mean to two above, and the true mean rewards as points. If there are more than 20 actions, it draws the
// best 20 in descending order, by the true rewards if they are known, else by the first agent's means. Beliefs without
// functions are left out. Beliefs returns an error if no belief has functions. Agents have the
// colours of [Styled].
func Beliefs(axes Axes, agents, labels []string, beliefs []lab.Belief) (*gonum.Plot, error) {
	if len(agents) != len(beliefs) || len(labels) != len(beliefs) {
		return nil, fmt.Errorf("%d agents and %d labels for %d beliefs: give the same number of each", len(agents),
			len(labels), len(beliefs))
	}
	truth, means, sds := moments(beliefs)
	worth := truth // actions are ordered by worth
	if at := slices.IndexFunc(means, func(m []float64) bool { return m != nil }); at < 0 {
		return nil, errors.New("no agent here draws functions from its belief")
	} else if truth == nil {
		worth = means[at]
	}
	actions := best(worth)
	if len(actions) < len(worth) {
		axes.X = fmt.Sprintf("%s (the best %d of %d, the best first)", axes.X, len(actions), len(worth))
	}
	series := Styled(agents...)
	for i := range series {
		if means[i] != nil {
			series[i].Label = labels[i]
			series[i].intervals(float64(i+1)/float64(len(series)+1), actions, means[i], sds[i])
		}
	}
	points := Series{Label: "truth", Points: true}
	for at, action := range actions {
		if truth != nil {
			points.X, points.Y = append(points.X, float64(at)), append(points.Y, truth[action])
		}
	}
	axes.Beside = true // the labels must not cover the intervals
	axes.MinX, axes.MaxX = -0.6, float64(len(actions))-0.4
	p, err := Lines(axes, append(series, points)...)
	if err == nil {
		p.X.Tick.Marker = linearTicks{steps: min(axes.MaxX-axes.MinX, 10.5)} // whole numbers, all of up to ten actions
	}
	return p, err
}

// intervals adds a vertical bar for each action, from two standard deviations below the mean to two above. side is the
// place of the bar between those of other agents, from 0 to 1.
func (s *Series) intervals(side float64, actions []int, means, sds []float64) {
	for at, action := range actions {
		x, mean, sd := float64(at)+0.6*(side-0.5), means[action], sds[action]
		s.X, s.Y = append(s.X, x, x, x), append(s.Y, mean-2*sd, mean+2*sd, math.NaN()) // NaN makes a gap
	}
}

// moments returns the true mean rewards, which are nil if no belief has them, and for each belief the mean and the
// standard deviation of its functions at each action, which are nil if it has no functions.
func moments(beliefs []lab.Belief) (truth []float64, means, sds [][]float64) {
	for _, b := range beliefs {
		mean, sd := momentsOf(b.Functions)
		means, sds = append(means, mean), append(sds, sd)
		if truth == nil {
			for _, y := range b.Truth {
				truth = append(truth, float64(y))
			}
		}
	}
	return truth, means, sds
}

// momentsOf returns the mean and the standard deviation of the functions at each action.
func momentsOf(functions [][]float32) (means, sds []float64) {
	if len(functions) == 0 {
		return nil, nil
	}
	column := make([]float64, len(functions))
	for action := range functions[0] {
		for i, f := range functions {
			column[i] = float64(f[action])
		}
		mean, sd := stat.PopMeanStdDev(column, nil)
		means, sds = append(means, mean), append(sds, sd)
	}
	return means, sds
}

// best returns the indices of the actions that are drawn, in order.
func best(worth []float64) []int {
	all := make([]int, len(worth))
	for i := range all {
		all[i] = i
	}
	if len(all) > mostShown {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
		all = all[:mostShown]
	}
	return all
}
