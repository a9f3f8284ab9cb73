package root

// The loops over the numbers of a triangle are made several numbers at a time where the processor can, in assembly, as
// the compiler makes no such loops. They add up in the order of the loops in Go, and multiply and add in two roundings,
// so that results are the same to the bit on every machine. Libraries of such loops have a row's product alone, and
// round once where the processor can.

// lanes are the loops in assembly; all are nil where the processor has none.
var lanes assembly

type assembly struct {
	// addRows32 adds to out the first n numbers of 8 rows, the first of which has so many numbers, each times its x. n
	// is a multiple of 8.
	addRows32 func(out, rows *float32, first, n int, x *[8]float32)
	// addRows64 is the same in double precision; n is a multiple of 4.
	addRows64 func(out, rows *float64, first, n int, x *[8]float64)
	// moveRows is Triangle.move of 4 rows, in their columns n-1 to 0. n is a multiple of 4.
	moveRows func(from, to *float64, first, n int, c *column, b *[4]float64)
	// narrow rounds n numbers to single precision. n is a multiple of 4.
	narrow func(to *float32, from *float64, n int)
}

// addRows adds S^T x to out, row after row; fast is one of lanes.
func addRows[T float32 | float64](rows, x, out []T, fast func(out, rows *T, first, n int, x *[8]T)) {
	at, slow := 0, len(x)
	if fast != nil {
		slow %= 8 // the shortest rows
	}
	for r, v := range x[:slow] {
		addRow(out, rows[at:at+r+1], v)
		at += r + 1
	}
	for r := slow; r < len(x); r += 8 {
		n := (r + 1) &^ 7
		if n > 0 {
			fast(&out[0], &rows[at], r+1, n, (*[8]T)(x[r:]))
		}
		for k, v := range x[r : r+8] {
			addRow(out[n:], rows[at+n:at+r+k+1], v)
			at += r + k + 1
		}
	}
}

func addRow[T float32 | float64](out, row []T, x T) {
	out = out[:len(row)]
	for i, v := range row {
		out[i] += T(x * v) // the conversion forbids a single rounding of product and sum
	}
}

// narrow rounds numbers to single precision.
func narrow(to []float32, from []float64) {
	n := 0
	if lanes.narrow != nil && len(from) >= 4 {
		n = len(from) &^ 3
		lanes.narrow(&to[0], &from[0], n)
	}
	for i, v := range from[n:] {
		to[n+i] = float32(v)
	}
}
