package root

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/hypermodels/hypermodels/hyper/internal/dot"
)

// Triangle is a lower triangular root S of a matrix Q = S S^T, in plain Go. A Triangle changes only when CopyInto,
// UpdateInto or ForgetInto write to it. Otherwise it is safe for concurrent use.
type Triangle struct {
	n      int
	rows   []float64 // row r has r+1 numbers; each row follows the previous one
	narrow []float32 // the same numbers in single precision, for Project; see narrowed
}

// NewTriangle returns the triangular root of S S^T for any root S [n, n], row after row. If S is lower triangular, the
// result is S itself. Otherwise it is S times a rotation, by a QR factorisation in O(n^3).
func NewTriangle(n int, s []float64) *Triangle {
	if !lower(n, s) {
		s = rotated(n, s)
	}
	t := Empty(n)
	for r := range n {
		copy(t.row(r), s[r*n:])
	}
	t.narrowed()
	return t
}

// Empty returns a root of size n to write to.
func Empty(n int) *Triangle {
	return &Triangle{n: n, rows: make([]float64, n*(n+1)/2), narrow: make([]float32, 64*triangular((n+7)/8))}
}

// lower reports whether all numbers to the right of the diagonal are 0.
func lower(n int, s []float64) bool {
	for r := range n {
		if slices.ContainsFunc(s[r*n+r+1:(r+1)*n], func(v float64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

// rotated returns a lower triangular S O with a diagonal that is not negative, where O is a rotation: if S^T = O R,
// then S O is R^T.
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

// Write writes S to out, [n, n] row after row.
func (t *Triangle) Write(out []float64) {
	clear(out)
	for r := range t.n {
		copy(out[r*t.n:], t.row(r))
	}
}

// row returns row r of S, up to the diagonal.
func (t *Triangle) row(r int) []float64 {
	first := r * (r + 1) / 2
	return t.rows[first : first+r+1 : first+r+1]
}

// triangular returns 1 + 2 + ... + n.
func triangular(n int) int { return n * (n + 1) / 2 }

// narrowed fills narrow with the numbers in single precision. Rows are in groups of 8. All rows of a group have the
// length of the longest, with zeros beyond the diagonal and after the last row: group i has 8 rows of 8 (i + 1)
// numbers.
func (t *Triangle) narrowed() {
	for r := range t.n {
		i := r / 8
		narrow(t.narrow[64*triangular(i)+r%8*8*(i+1):], t.row(r))
	}
}

// Project writes S^T x to out. Both have n numbers.
func (t *Triangle) Project(x, out []float32) {
	var short [1024]float32
	sums := short[:]
	if t.n > len(sums) {
		sums = make([]float32, t.n+7)
	}
	for r := 0; r < t.n; r += 8 {
		i, own := r/8, [8]float32{}
		copy(own[:], x[r:])
		addEight(sums[:r+8], t.narrow[64*triangular(i):64*triangular(i+1)], &own)
	}
	copy(out, sums)
}

// Square returns Q x = S S^T x.
func (t *Triangle) Square(x []float64) []float64 {
	f, out := make([]float64, t.n), make([]float64, t.n)
	addRows(t.rows, x, f)
	for r := range out {
		out[r] = dot.Product(t.row(r), f)
	}
	return out
}

// CopyInto copies t to next, another root of the same size.
func (t *Triangle) CopyInto(next *Triangle) {
	copy(next.rows, t.rows)
	copy(next.narrow, t.narrow)
}

// UpdateInto adds a datum phi with weight rho to t, and writes the new root to next: a root of the same size, or t
// itself. It returns the gain k, as the function Update defines it. It reads S once. The method is Carlson's form of
// Potter's update, which keeps S triangular (Carlson 1973, "Fast triangular formulation of the square root filter").
// With f = S^T phi and a_n = 1/rho, from the last column i to the first,
//
//	a_i = a_(i+1) + f_i^2,   S_i <- sqrt(a_(i+1)/a_i) S_i - f_i / sqrt(a_(i+1) a_i) b,   b <- b + f_i S_i
//
// where the last step uses the old column S_i. At the end k = b / a_0. ok is false if numbers are not finite; next must
// then not be used.
func (t *Triangle) UpdateInto(next *Triangle, phi []float64, rho float64) (gain []float64, ok bool) {
	f := make([]float64, t.n)
	addRows(t.rows, phi, f)
	c, ok := changeBy(f, rho)
	if !ok {
		return nil, false
	}
	if len(c.columns)-c.first < t.n && next != t {
		copy(next.rows, t.rows)
	}
	gain = make([]float64, t.n)
	rest := t.n % 4 // the shortest rows
	t.move(0, rest, c, next, gain)
	for r := rest; r < t.n; r += 4 {
		t.move(r, 4, c, next, gain)
	}
	next.narrowed()
	return gain, c.gain(gain)
}

// ForgetInto multiplies t by a number, and then adds the data e_j for the coordinates j = from, ..., to-1, each with
// weight rho. It writes the new root to next, another root of the same size, and returns the gains, [coordinates][n].
// The result is the same as from one UpdateInto after the other. ForgetInto reads S once for all data, because a row
// changes independently of the other rows, except for f of e_j, which is row j. ok is false if numbers are not finite;
// next must then not be used.
func (t *Triangle) ForgetInto(next *Triangle, by float64, from, to int, rho float64) (gains [][]float64, ok bool) {
	for i, v := range t.rows {
		next.rows[i] = by * v
	}
	all, changes := make([]float64, (to-from)*t.n), make([]change, to-from)
	gains = slices.Collect(slices.Chunk(all, t.n))
	rows := func(r, many, first, end int) {
		for i := first; i < end; i++ {
			next.move(r, many, changes[i], next, gains[i])
		}
	}
	for r := from; r < to; r += 4 {
		many := min(4, to-r)
		rows(r, many, 0, r-from)
		for i := r - from; i < r-from+many; i++ {
			if changes[i], ok = changeBy(next.row(from+i), rho); !ok {
				return nil, false
			}
			for k := range many { // row by row, because row k+1 of them determines the next change
				next.move(r+k, 1, changes[i], next, gains[i])
			}
		}
	}
	for r := from; r < to; r += 4 {
		rows(r, min(4, to-r), min(r-from+4, to-from), to-from)
	}
	for _, part := range [][2]int{{0, from}, {to, t.n}} {
		for r := part[0]; r < part[1]; r += 4 {
			rows(r, min(4, part[1]-r), 0, to-from)
		}
	}
	next.narrowed()
	ok = true
	for i, c := range changes {
		ok = c.gain(gains[i]) && ok
	}
	return gains, ok
}

// change describes the effect of a datum on a root. The columns before first, and the columns after the last one in
// columns, do not change.
type change struct {
	columns []column
	first   int
	a       float64 // a_0
}

// column holds the factors for one column.
type column struct{ f, keep, take float64 }

// changeBy returns the change by a datum for which S^T phi is f followed by zeros. ok is false if the change is not
// finite.
func changeBy(f []float64, rho float64) (c change, ok bool) {
	for len(f) > 0 && f[len(f)-1] == 0 {
		f = f[:len(f)-1]
	}
	c = change{columns: make([]column, len(f)), first: len(f), a: 1 / rho}
	for i := len(f) - 1; i >= 0; i-- {
		before := c.a
		c.a += float64(f[i] * f[i])
		c.columns[i] = column{f: f[i], keep: math.Sqrt(before / c.a), take: f[i] / math.Sqrt(before*c.a)}
		if c.a-c.a != 0 || c.columns[i].take-c.columns[i].take != 0 {
			return c, false
		}
		if f[i] != 0 {
			c.first = i
		}
	}
	return c, true
}

// gain converts b to the gain, in place. It returns false if the gain is not finite.
func (c change) gain(b []float64) (ok bool) {
	ok = true
	for i := range b {
		b[i] /= c.a
		ok = ok && b[i]-b[i] == 0
	}
	return ok
}

// moveRow computes row r of the next root, from its last column to column down, and updates b.
func (t *Triangle) moveRow(r, down int, c change, next *Triangle, b *float64) {
	row, to, sum := t.row(r), next.row(r), *b
	for i := min(r+1, len(c.columns)) - 1; i >= down; i-- {
		own, s := c.columns[i], row[i]
		to[i] = float64(own.keep*s) - float64(own.take*sum) // the conversions prevent a single rounding
		sum += float64(own.f * s)
	}
	*b = sum
}
