package root

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
)

// Triangle is a lower triangular root S of a matrix Q = S S^T, in plain Go. It never changes, but where ScaleInto or
// UpdateInto is told to write to it, and is safe for concurrent use.
type Triangle struct {
	n      int
	rows   []float64 // row r has r+1 numbers; the rows follow each other
	narrow []float32 // the same in single precision, for Project
}

// NewTriangle returns the triangular root of S S^T for any root S [n, n], row after row. Of a triangular S it is S
// itself; of another it is S times a rotation, by a QR factorisation, in O(n^3).
func NewTriangle(n int, s []float64) *Triangle {
	if !lower(n, s) {
		s = rotated(n, s)
	}
	t := Empty(n)
	for r := range n {
		copy(t.row(r), s[r*n:])
	}
	narrow(t.narrow, t.rows)
	return t
}

// Empty returns a root to write to.
func Empty(n int) *Triangle {
	return &Triangle{n: n, rows: make([]float64, n*(n+1)/2), narrow: make([]float32, n*(n+1)/2)}
}

// lower reports whether all numbers right of the diagonal are 0.
func lower(n int, s []float64) bool {
	for r := range n {
		if slices.ContainsFunc(s[r*n+r+1:(r+1)*n], func(v float64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

// rotated is a lower triangular S O with a rotation O and a diagonal that is not negative: S^T = O R and S O = R^T.
func rotated(n int, s []float64) []float64 {
	a := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for r := range n {
		for c := range n {
			a.Data[c*n+r] = s[r*n+c]
		}
	}
	tau, size := make([]float64, n), make([]float64, 1)
	lapack64.Geqrf(a, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	out := make([]float64, n*n)
	for c := range n {
		sign := math.Copysign(1, a.Data[c*n+c])
		for r := c; r < n; r++ {
			out[r*n+c] = sign * a.Data[c*n+r]
		}
	}
	return out
}

// Equal reports whether two roots are the same to the bit.
func (t *Triangle) Equal(u *Triangle) bool { return slices.Equal(t.rows, u.rows) }

// Write writes S, [n, n] row after row.
func (t *Triangle) Write(out []float64) {
	clear(out)
	for r := range t.n {
		copy(out[r*t.n:], t.row(r))
	}
}

// row returns a row of S up to the diagonal.
func (t *Triangle) row(r int) []float64 {
	first := r * (r + 1) / 2
	return t.rows[first : first+r+1 : first+r+1]
}

// Project writes S^T x to out, both of n numbers.
func (t *Triangle) Project(x, out []float32) {
	clear(out)
	addRows(t.narrow, x, out, lanes.addRows32)
}

// Square returns Q x = S S^T x.
func (t *Triangle) Square(x []float64) []float64 {
	f, out := make([]float64, t.n), make([]float64, t.n)
	addRows(t.rows, x, f, lanes.addRows64)
	for r := range out {
		out[r] = dot.Product(t.row(r), f)
	}
	return out
}

// Update is UpdateInto a new root.
func (t *Triangle) Update(phi []float64, rho float64) (next *Triangle, gain []float64, ok bool) {
	next = Empty(t.n)
	gain, ok = t.UpdateInto(next, phi, rho)
	return next, gain, ok
}

// ScaleInto makes next, another root of the same size, t times a number.
func (t *Triangle) ScaleInto(next *Triangle, by float64) {
	for i, v := range t.rows {
		next.rows[i] = by * v
	}
	narrow(next.narrow, next.rows)
}

// UpdateInto makes next, a root of the same size or t itself, the root after a datum phi with weight rho, and returns
// the gain k, as the function Update has them, in one pass over S: Carlson's form of Potter's update, which keeps S
// triangular (Carlson 1973, "Fast triangular formulation of the square root filter"). With f = S^T phi and a_n =
// 1/rho, from the last column i to the first
//
//	a_i = a_(i+1) + f_i^2,   S_i <- sqrt(a_(i+1)/a_i) S_i - f_i / sqrt(a_(i+1) a_i) b,   b <- b + f_i S_i
//
// with the column S_i of before in b; at the end k = b / a_0. ok is false where numbers are not finite, and next is
// then not to be used.
func (t *Triangle) UpdateInto(next *Triangle, phi []float64, rho float64) (gain []float64, ok bool) {
	f := make([]float64, t.n)
	addRows(t.rows, phi, f, lanes.addRows64)
	columns, a := make([]column, t.n), 1/rho
	ok = true
	for i := t.n - 1; i >= 0; i-- {
		before := a
		a += f[i] * f[i]
		columns[i] = column{f: f[i], keep: math.Sqrt(before / a), take: f[i] / math.Sqrt(before*a)}
		ok = ok && a-a == 0 && columns[i].take-columns[i].take == 0
	}
	if !ok {
		return nil, false
	}
	for len(columns) > 0 && columns[len(columns)-1].f == 0 { // they stay as they are
		columns = columns[:len(columns)-1]
	}
	if len(columns) < t.n && next != t {
		copy(next.rows, t.rows)
	}
	gain = make([]float64, t.n)
	r := 0
	for ; r < t.n%4; r++ {
		t.one(r, min(r, len(columns)-1), 0, columns, next, &gain[r])
	}
	for ; r < t.n; r += 4 {
		t.four(r, columns, next, (*[4]float64)(gain[r:]))
	}
	narrow(next.narrow, next.rows)
	for i := range gain {
		gain[i] /= a
		ok = ok && gain[i]-gain[i] == 0
	}
	return gain, ok
}

// column is what Update multiplies a column by.
type column struct{ f, keep, take float64 }

// one makes the numbers of row r of the next root from column i down to last, and goes on with b.
func (t *Triangle) one(r, i, last int, columns []column, next *Triangle, b *float64) {
	first := r * (r + 1) / 2
	for ; i >= last; i-- {
		c, s := columns[i], t.rows[first+i]
		next.rows[first+i] = float64(c.keep*s) - float64(c.take**b) // the conversions forbid a single rounding
		*b += float64(c.f * s)
	}
}

// four is one of the rows r to r+3.
func (t *Triangle) four(r int, columns []column, next *Triangle, b *[4]float64) {
	n := min(r+1, len(columns)) // the columns that all of them have
	if lanes.moveRows != nil {
		n &^= 3
	} else {
		n = 0
	}
	for k := range 4 {
		t.one(r+k, min(r+k, len(columns)-1), n, columns, next, &b[k])
	}
	if n > 0 {
		first := r * (r + 1) / 2
		lanes.moveRows(&t.rows[first], &next.rows[first], r+1, n, &columns[0], b)
	}
}
