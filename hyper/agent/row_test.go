package agent

import (
	"testing"

	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// rowOf finds each datum where place has put it, as long as it is kept.
func TestRowOf(t *testing.T) {
	for _, replay := range []Replay{Growth, Reservoir, Window} {
		c := Config{Replay: replay, Seed: 5, Learner: learner.Learner{Train: train.Config{Capacity: 8}}}
		d, rows := contents{Rows: c.rows()}, make([]int, 8)
		dropped := 0
		for n := range 60 {
			row, next := c.place(d)
			if d = next; row >= 0 {
				rows[row] = n
			}
			for number := range d.Seen {
				want := -1
				for row := range d.Kept {
					if rows[row] == number {
						want = row
					}
				}
				if want < 0 {
					dropped++
				}
				if got := c.rowOf(d, number); got != want {
					t.Fatalf("%s, %+v: datum %d is in row %d, got %d", replay, d, number, want, got)
				}
			}
		}
		if dropped == 0 {
			t.Errorf("%s has dropped no data, so the test shows too little", replay)
		}
	}
}
