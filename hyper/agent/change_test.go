package agent

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat/distuv"
)

// firstAlarm returns the number, counted from 1, of the first datum with an alarm in n errors; 0 means no alarm.
func firstAlarm(r *rand.Rand, n int, err func(i int) float64) int {
	d, evidence := detector{}, 0.0
	for i := range n {
		if d, evidence = d.next(err(i), r.Float64()); evidence >= 10_000 {
			return i + 1
		}
	}
	return 0
}

// If errors are exchangeable, at most n/Run of the runs of n data have an alarm: at most 100 expected in 1,000 runs of
// 1,000 data, with a standard error of 9.5. This also holds for a belief that predicts 0.3 for rewards of which one in
// ten is 1 and the others are 0, and for errors without a mean.
func TestChangeFalseAlarms(t *testing.T) {
	NotInShort(t)
	for name, err := range map[string]func(*rand.Rand) float64{
		"normal": func(r *rand.Rand) float64 { return r.NormFloat64() },
		"0 or 1": func(r *rand.Rand) float64 { return math.Floor(r.Float64()+0.1) - 0.3 },
		"Cauchy": func(r *rand.Rand) float64 { return r.NormFloat64() / r.NormFloat64() },
	} {
		r, alarms := rand.New(rand.NewPCG(1, 2)), 0
		for range 1000 {
			if firstAlarm(r, 1000, func(int) float64 { return err(r) }) > 0 {
				alarms++
			}
		}
		t.Logf("%s: %d of 1,000 runs of 1,000 data have a false alarm", name, alarms)
		if alarms > 100+3*10 {
			t.Errorf("%s: %d of 1,000 runs have a false alarm, want about 100 at most", name, alarms)
		}
	}
}

// Errors are N(0, 1), and N(shift, 1) after 500 data.
func TestChangeDelay(t *testing.T) {
	NotInShort(t)
	for _, c := range []struct{ shift, most float64 }{{0.5, 110}, {1, 30}, {2, 10}} {
		r, sum, found, early := rand.New(rand.NewPCG(3, 4)), 0.0, 0, 0
		err := func(i int) float64 {
			if i < 500 {
				return r.NormFloat64()
			}
			return r.NormFloat64() + c.shift
		}
		for range 400 {
			switch at := firstAlarm(r, 5000, err); {
			case at > 500:
				sum, found = sum+float64(at-500), found+1
			case at > 0:
				early++
			}
		}
		t.Logf("a shift by %v is found after %.1f data in the mean; %d of 400 before it", c.shift, sum/float64(found), early)
		if found+early < 400 || sum/float64(found) > c.most {
			t.Errorf("a shift by %v: %d found, after %.1f data, want all and %v",
				c.shift, found, sum/float64(found), c.most)
		}
	}
}

// A file of an earlier version has sums of another test: the test begins anew, and its counts continue.
func TestChangeOfOlderFile(t *testing.T) {
	var d detector
	must.M(json.Unmarshal([]byte(`{"Evidence":[1,2,3,4,5,6,7,8,9,10,11,12],"Squares":12.5,"Residual":90,"Seen":100,`+
		`"Alarms":2,"Last":60}`), &d))
	if want := (detector{Seen: 100, Alarms: 2, Last: 60}); d != want || !d.valid() {
		t.Errorf("%+v, want %+v", d, want)
	}
}

// The first errors are no evidence, whatever their size. The two errors after them have p-values u and, for the larger
// second one, (1 + u) / 2: each bet has wealth (L(z_1) + 1) L(z_2), where L is its likelihood ratio at the normal
// scores. In other units of the reward nothing changes.
func TestChangeInClosedForm(t *testing.T) {
	const u1, u2 = 0.3, 0.5
	for _, unit := range []float64{1, 1e-9, 1e9} {
		d, evidence := detector{}, 0.0
		for i := range settled {
			if d, evidence = d.next(unit*[]float64{2, -2}[i%2], 0.5); evidence != 0 {
				t.Errorf("got evidence %g after %d errors, want 0", evidence, i+1)
			}
		}
		d, _ = d.next(-unit, u1)
		_, evidence = d.next(4*unit, u2)
		z1, z2 := distuv.UnitNormal.Quantile(u1), distuv.UnitNormal.Quantile((1+u2)/2)
		want := 0.0
		for _, s := range shifts {
			l := func(z float64) float64 { return math.Exp(s*z - s*s/2) }
			want += (l(z1) + 1) * l(z2) / float64(2*len(shifts))
		}
		for _, k := range spreads {
			l := func(z float64) float64 { return math.Exp(z*z/2-z*z/(2*k*k)) / k }
			want += (l(z1) + 1) * l(z2) / float64(2*len(spreads))
		}
		if math.Abs(evidence-want) > 1e-12 {
			t.Errorf("in units of %g: evidence %g, want %g", unit, evidence, want)
		}
	}
}

// The scale of the errors is 2, whatever the ignored first errors are. Errors below 1 are one class, and larger ones
// are classed by octaves up to 128. If the first errors were 0, every other error belongs to the last class.
func TestChangeClasses(t *testing.T) {
	d, exact := detector{}, detector{}
	for i := range settled {
		first := 2.0
		if i < early {
			first = 1e6
		}
		d, _ = d.next(first, 0.5)
		exact, _ = exact.next(0, 0.5)
	}
	for err, want := range map[float64]int{0: 0, 0.99: 0, 1: 1, 1.99: 1, 2: 2, 3.99: 2, 4: 3, 127: 7, 128: 8, 1e30: 8} {
		if up, down := d.class(err)-octaves, d.class(-err)-octaves; up != want || down != -want {
			t.Errorf("classes %d of %g and %d of %g, want %d", up, err, down, -err, want)
		}
	}
	if zero, one := exact.class(0), exact.class(1e-9); zero != octaves || one != 2*octaves {
		t.Errorf("after errors of 0: classes %d of 0 and %d of 1e-9", zero, one)
	}
}

// A file whose numbers contradict each other is damaged.
func TestChangeDamaged(t *testing.T) {
	good := detector{}
	for i := range 40 {
		good.Seen++
		good, _ = good.next(float64(i%3), 0.5)
	}
	if !good.valid() {
		t.Errorf("valid state %+v is refused", good)
	}
	for name, damage := range map[string]func(d *detector){
		"wealth": func(d *detector) { d.Wealth[3] = -1 }, "scale": func(d *detector) { d.SquaredErrors = math.Inf(1) },
		"classes": func(d *detector) { d.Classes[0]++ }, "a class": func(d *detector) { d.Classes[0]--; d.Classes[1]++ },
		"errors": func(d *detector) { d.Errors = 41 }, "last": func(d *detector) { d.Last = 41 },
		"alarms": func(d *detector) { d.Alarms = -1 },
	} {
		d := good
		if damage(&d); d.valid() {
			t.Errorf("%s: damaged state %+v is accepted", name, d)
		}
	}
}
