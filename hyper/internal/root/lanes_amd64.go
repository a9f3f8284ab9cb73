package root

import "golang.org/x/sys/cpu"

// lanes reports whether the processor has AVX.
var lanes = cpu.X86.HasAVX

// addEight computes the same as addEightInGo. The length of out must be a multiple of 8.
func addEight(out, rows []float32, x *[8]float32) {
	if !lanes {
		addEightInGo(out, rows, x)
		return
	}
	addEightRows(&out[0], &rows[:8*len(out)][0], len(out), x)
}

// addRows computes the same as addRowsInGo.
func addRows(rows, x, out []float64) {
	slow := len(x) % 8 // the shortest rows
	if !lanes {
		slow = len(x)
	}
	addRowsInGo(rows, x[:slow], out)
	at := triangular(slow)
	for r := slow; r < len(x); r += 8 {
		n := (r + 1) &^ 3
		if n > 0 {
			addTriangleRows(&out[0], &rows[at], r+1, n, (*[8]float64)(x[r:]))
		}
		for k, v := range x[r : r+8] {
			addRow(out[n:], rows[at+n:at+r+k+1], v)
			at += r + k + 1
		}
	}
}

// move computes the rows r to r+many-1 of the next root, and updates the entries of b for these rows.
func (t *Triangle) move(r, many int, c change, next *Triangle, b []float64) {
	all := (min(r+1, len(c.columns)) - c.first) &^ 3 // number of columns that all rows have
	if many != 4 || all <= 0 || !lanes {
		t.moveInGo(r, many, c, next, b)
		return
	}
	for k := range 4 {
		t.moveRow(r+k, c.first+all, c, next, &b[r+k])
	}
	from := triangular(r) + c.first
	moveRows(&t.rows[from], &next.rows[from], r+1, all, &c.columns[c.first], (*[4]float64)(b[r:]))
}

// narrow computes the same as narrowInGo.
func narrow(to []float32, from []float64) {
	n := len(from) &^ 3
	if !lanes {
		n = 0
	}
	if n > 0 {
		narrowFours(&to[:n][0], &from[0], n)
	}
	narrowInGo(to[n:], from[n:])
}

// addEightRows adds the sum of x[k] times row k to out. rows holds 8 rows of n numbers, and out has n numbers. n must
// be a multiple of 8.
//
//go:noescape
func addEightRows(out, rows *float32, n int, x *[8]float32)

// addTriangleRows adds x[k] times the first n numbers of row k to out, for 8 rows of a triangle. first is the length of
// the first row. n must be a multiple of 4.
//
//go:noescape
func addTriangleRows(out, rows *float64, first, n int, x *[8]float64)

// moveRows computes the same as Triangle.moveRow for 4 rows of a triangle, in n columns that begin with c. first is the
// length of the first row. n must be a multiple of 4.
//
//go:noescape
func moveRows(from, to *float64, first, n int, c *column, b *[4]float64)

// narrowFours rounds n numbers to single precision. n must be a multiple of 4.
//
//go:noescape
func narrowFours(to *float32, from *float64, n int)
