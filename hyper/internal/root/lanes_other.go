//go:build !amd64

package root

func addEight(out, rows []float32, x *[8]float32) { addEightInGo(out, rows, x) }
func addRows(rows, x, out []float64)              { addRowsInGo(rows, x, out) }
func narrow(to []float32, from []float64)         { narrowInGo(to, from) }

func (t *Triangle) move(r, many int, c change, next *Triangle, b []float64) {
	t.moveInGo(r, many, c, next, b)
}
