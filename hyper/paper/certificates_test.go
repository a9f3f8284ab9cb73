package paper

import (
	"math"
	"testing"
)

// The interval for 0 of 10 successes ends at 1 - 0.025^(1/10), and the interval for 10 of 10 is its mirror image.
// The interval for 3 of 10 begins where 3 or more successes, and ends where 3 or fewer, have probability 0.025.
func TestClopperPearson(t *testing.T) {
	end := 1 - math.Pow(0.025, 0.1)
	for _, c := range []struct {
		k            int
		lower, upper float64
	}{{0, 0, end}, {3, 0.06673951, 0.65245285}, {10, 1 - end, 1}} {
		lower, upper := clopperPearson(c.k, 10)
		if math.Abs(lower-c.lower) > 1e-8 || math.Abs(upper-c.upper) > 1e-8 {
			t.Errorf("%d of 10: got [%v, %v], want [%v, %v]", c.k, lower, upper, c.lower, c.upper)
		}
	}
}
