package approx

import (
	"context"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
)

// task returns the arguments of a construction for a transport map to a measure.
func task(t testing.TB, m Measure, r Reference, epsilon, delta float64) Task {
	t.Helper()
	return Task{
		Map: transport(t, m, r), Reference: r, K: m.K(), Bound: m.Bound, Epsilon: epsilon, Delta: delta,
		Reach: newBox(m.K(), delta).reach(), Seed: 1,
	}
}

func build(t testing.TB, c Construction, at Task, level int) Network {
	t.Helper()
	return must.M1(c.Build(context.Background(), at, level))
}

// share returns the share of z at which the network is within epsilon of the map.
func share(n Network, at Task, epsilon float64) float64 {
	z := draws(at.Reference, source(7, "share"), 5000, at.K)
	f := apply(n.At, z, at.K)
	for _, row := range f {
		clip(row, at.Bound)
	}
	return float64(count(supErrors(f, apply(at.Map.At, z, at.K)), epsilon)) / 5000
}

// Each exact construction is close to the map for all but a share delta of z, and closer at the next level.
func TestConstructionsAreCloseAndGetCloser(t *testing.T) {
	for name, want := range map[string]string{"process": "coordinatewise", "discrete": "steps",
		"posterior": "max-affine"} {
		if !slices.Contains(exact(), name) {
			continue
		}
		for _, r := range references {
			at := task(t, known(t, name, 3), r, 0.02, 0.1)
			c := natural(at.Map)
			if c.Name() != want {
				t.Errorf("%s: got the construction %s, want %s", name, c.Name(), want)
			}
			before := share(build(t, c, at, 0), at, at.Epsilon)
			after := share(build(t, c, at, 2), at, at.Epsilon)
			if before < 1-at.Delta || after < 1-at.Delta/3 {
				t.Errorf("%s, %s z: within epsilon with probability %.4f, refined %.4f, want above 1 - delta "+
					"and 1 - delta/3", name, r, before, after)
			}
		}
	}
}

// A trained network learns a mixture on two points.
func TestTrainedNetworksLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for long")
	}
	at := task(t, known(t, "mixture", 2), Uniform, 0.2, 0.1)
	if p := share(build(t, Trained{Width: 24, Steps: 1500}, at, 0), at, at.Epsilon); p < 0.9 {
		t.Errorf("within epsilon with probability %.3f, want at least 0.9", p)
	}
}
