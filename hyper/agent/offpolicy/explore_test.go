package offpolicy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

func TestExplore(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	reps := 1000
	ln := func(r *rand.Rand, m float64) float64 { return m * math.Exp(r.NormFloat64()-.5) }
	for _, k := range []struct {
		name                 string
		floor, wrong, lo, hi float64
		f                    func(*rand.Rand, float64) float64
	}{
		{"uni-bern", 1, 0, .1, .7, bernoulli}, {"uni-norm", 1, 0, .1, .7, gaussian}, {"uni-rare", 1, 0, .005, .035, bernoulli}, {"uni-ln", 1, 0, .1, .7, ln},
		{"f.5-bern", .5, .5, .1, .7, bernoulli}, {"f.5-norm", .5, .5, .1, .7, gaussian}, {"f.5-rare", .5, .5, .005, .035, bernoulli}, {"f.5-ln", .5, .5, .1, .7, ln},
		{"f.5d.1-bern", .5, .1, .1, .7, bernoulli}, {"f.5d.1-norm", .5, .1, .1, .7, gaussian}, {"f.5d.1-rare", .5, .1, .005, .035, bernoulli},
		{"f.05-bern", .05, .5, .1, .7, bernoulli}, {"f.05-norm", .05, .5, .1, .7, gaussian}, {"f.05-ln", .05, .5, .1, .7, ln},
		{"f.05d.1-bern", .05, .1, .1, .7, bernoulli}, {"f.05d.1-norm", .05, .1, .1, .7, gaussian}, {"f.05d.1-rare", .05, .1, .005, .035, bernoulli},
		{"f.5-rareheavy", .5, .5, 0, 1, nil}, {"f.5d.1-rareheavy", .5, .1, 0, 1, nil}, {"f.5-commonheavy", .5, .5, 2, 3, nil},
		{"f.05-rareheavy", .05, .5, 0, 1, nil}, {"f.05d.1-rareheavy", .05, .1, 0, 1, nil}, {"f.05d.1-commonheavy", .05, .1, 2, 3, nil},
		{"f.05d.02-bern", .05, .02, .1, .7, bernoulli},
	} {
		var w *world
		if k.f != nil {
			w = newWorld(k.floor, k.wrong, k.lo, k.hi, k.f)
		} else {
			w = newWorld(k.floor, k.wrong, .1, .7, bernoulli)
			for c := range w.means {
				for a := range w.means[c] {
					heavy := w.target[c][a]/w.logged[c][a] > 5
					w.means[c][a] = .9
					if heavy == (k.lo == 0) {
						w.means[c][a] = .05
					}
				}
			}
		}
		for _, n := range []int{300, 1000, 4000} {
			s := make([]Sample, n)
			r := rand.New(rand.NewPCG(1, 2))
			type cell struct {
				low, high, used, mw, other int
				free, width                float64
			}
			cells := map[string]*cell{}
			es := map[string]Estimator{"ips": IPS{}, "snips": SNIPS{}, "doubly-robust": DoublyRobust{}, "switch": Switch{}}
			for range reps {
				w.log(r, s)
				for _, name := range []string{"ips", "snips", "doubly-robust", "switch"} {
					if cells[name] == nil {
						cells[name] = &cell{}
					}
					c, v := cells[name], w.value(es[name])
					e, err := Evaluate(s, es[name], Options{Least: 30})
					switch {
					case errors.Is(err, ErrMeanWeight):
						c.mw++
					case err != nil:
						c.other++
					default:
						c.used++
						c.free += math.Log(e.Freedom)
						if v < e.Lower {
							c.high++
						} else if v > e.Upper {
							c.low++
						}
					}
				}
			}
			for _, name := range []string{"ips", "snips", "doubly-robust", "switch"} {
				c := cells[name]
				u := float64(c.used) / 100
				fmt.Printf("X\t%s\t%d\t%s\t%.1f\t%d\t%d\t%.1f\t%.1f\t%.1f\n", k.name, n, name, math.Exp(c.free/float64(c.used)), c.mw, c.other, 100-float64(c.low+c.high)/u, float64(c.low)/u, float64(c.high)/u)
			}
		}
	}
}
