package paper

import (
	_ "embed" // of frontier.csv
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// frontierFamily is an agent with a training method and a number of arms. One point of figure 2 is chosen among all
// settings of a family.
type frontierFamily struct {
	agent     string
	integrate train.Integration
	arms      int
}

func (f frontierFamily) String() string { return fmt.Sprintf("%s (%v)", f.agent, f.integrate) }

// frontierSetting is a setting that a search found near the frontier of figure 2, or a setting of a grid.
type frontierSetting struct {
	frontierFamily
	size         int // index dimension of an arm, or number of particles
	indices      int // number of index samples of an SGD step; 0 if none are drawn
	step         float64
	perturbation float64 // scale of the data perturbations
}

// frontierTable lists the settings of figure 2. The settings of a family go from less to more computation.
var frontierTable = slices.Concat(frontierFound(), sizesOnAllData(30, fine), sizesOnAllData(100, fine),
	sizesOnAllData(300, coarse))

//go:embed frontier.csv
var frontierText string

// frontierFound returns the settings of frontier.csv.
func frontierFound() (out []frontierSetting) {
	lines := must.M1(csv.NewReader(strings.NewReader(frontierText)).ReadAll())
	for _, l := range lines[1:] {
		whole := func(i int) int { return must.M1(strconv.Atoi(l[i])) }
		number := func(i int) float64 { return must.M1(strconv.ParseFloat(l[i], 64)) }
		must.M(enum.Check[train.Integration]("integrate", l[1]))
		out = append(out, frontierSetting{
			frontierFamily: frontierFamily{agent: l[0], integrate: enum.Of[train.Integration](l[1]), arms: whole(2)},
			size:           whole(3), indices: whole(4), step: number(5), perturbation: number(6),
		})
	}
	return out
}

// sizes lists index dimensions and numbers of particles.
type sizes struct{ dims, particles []int }

var (
	coarse = sizes{dims: []int{1, 2, 3, 5, 10}, particles: []int{10, 30, 100, 300}}
	fine   = sizes{dims: []int{1, 2, 3, 4, 5, 10}, particles: []int{10, 30, 50, 100, 150, 200, 300}}
)

// sizesOnAllData returns settings of both agents with several sizes, trained on all data with a step size of 1.
func sizesOnAllData(arms int, grid sizes) (out []frontierSetting) {
	add := func(agent string, all []int) {
		for _, size := range all {
			out = append(out, frontierSetting{frontierFamily: frontierFamily{agent, train.FullData, arms},
				size: size, step: 1, perturbation: 1})
		}
	}
	add("linear", grid.dims)
	add("ensemble", grid.particles)
	return out
}

// frontierArms lists the numbers of arms of figure 2.
var frontierArms = []int{10, 30, 100, 300, 1000}

// settings returns the family's configurations near the frontier of figure 2, from less to more computation. A
// configuration is a list of "key=value" texts. Most are results of searches of equal budget
// (notebooks/results/tuning/frontier-*.json), and some lie between these results. There are two exceptions: full-data
// with 30 arms or more is a grid of sizes, and analytic with 300 arms has the settings for 100 arms and the results of
// a search of the linear agent alone.
func (f frontierFamily) settings() (out [][]string) {
	for _, s := range frontierTable {
		if s.frontierFamily == f {
			out = append(out, slices.Concat(f.fixed(), s.searched()))
		}
	}
	return out
}

// fixed returns the keys and values that all configurations of the family share.
func (f frontierFamily) fixed() []string {
	return []string{fmt.Sprintf("arms=%d", f.arms), fmt.Sprintf("integrate=%v", f.integrate)}
}

// searched returns the keys and values that the searches varied.
func (s frontierSetting) searched() []string {
	size := "index-dim"
	if s.agent == "ensemble" {
		size = "particles"
	}
	sets := []string{fmt.Sprintf("%s=%d", size, s.size), fmt.Sprintf("step-size=%v", s.step)}
	if s.indices > 0 {
		sets = append(sets, fmt.Sprintf("index-samples=%d", s.indices))
	}
	if s.perturbation != 1 {
		sets = append(sets, fmt.Sprintf("perturbation=%v", s.perturbation))
	}
	return sets
}
