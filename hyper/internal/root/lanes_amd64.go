package root

import "golang.org/x/sys/cpu"

// lanes says that the processor has those of AVX.
var lanes = cpu.X86.HasAVX

// addEight is addEightInGo; out has a multiple of 8 numbers.
func addEight(out, rows []float32, x *[8]float32) {
	if !lanes {
		addEightInGo(out, rows, x)
		return
	}
	addEightRows(&out[0], &rows[:8*len(out)][0], len(out), x)
}

// addRows is addRowsInGo.
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

// some makes the rows r to r+many-1 of the next root, and goes on with their b.
func (t *Triangle) some(r, many int, c change, next *Triangle, b []float64) {
	all := (min(r+1, len(c.columns)) - c.first) &^ 3 // columns that all rows have
	if many != 4 || all <= 0 || !lanes {
		t.moveInGo(r, many, c, next, b)
		return
	}
	for k := range 4 {
		t.one(r+k, c.first+all, c, next, &b[r+k])
	}
	from := triangular(r) + c.first
	moveRows(&t.rows[from], &next.rows[from], r+1, all, &c.columns[c.first], (*[4]float64)(b[r:]))
}

// narrow is narrowInGo.
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

// addEightRows adds to n numbers of out 8 rows of n numbers, each times its x. n is a multiple of 8.
//
//go:noescape
func addEightRows(out, rows *float32, n int, x *[8]float32)

// addTriangleRows adds to out the first n numbers of 8 rows of a triangle, of which the first has a length of first,
// each times its x. n is a multiple of 4.
//
//go:noescape
func addTriangleRows(out, rows *float64, first, n int, x *[8]float64)

// moveRows is Triangle.one of 4 rows of a triangle, of which the first has a length of first, in n columns from the
// given ones on. n is a multiple of 4.
//
//go:noescape
func moveRows(from, to *float64, first, n int, c *column, b *[4]float64)

// narrowFours rounds n numbers to single precision. n is a multiple of 4.
//
//go:noescape
func narrowFours(to *float32, from *float64, n int)
