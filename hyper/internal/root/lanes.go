package root

// The loops over the numbers of a triangle process several numbers at once if the processor can. They are written in
// assembly, because the compiler does not produce such loops. They add in the order of the loops in Go, and round after
// the multiplication and after the addition. The results are therefore the same to the bit on every machine. Libraries
// of such loops offer only the product for one row, and round only once if the processor can.

// addEightInGo adds the sum of x[k] times row k to out, row after row. rows holds 8 rows of the length of out.
func addEightInGo(out, rows []float32, x *[8]float32) {
	for k, v := range x {
		addRow(out, rows[k*len(out):(k+1)*len(out)], v)
	}
}

// addRowsInGo adds S^T x to out, row after row.
func addRowsInGo(rows, x, out []float64) {
	at := 0
	for r, v := range x {
		addRow(out, rows[at:at+r+1], v)
		at += r + 1
	}
}

func addRow[T float32 | float64](out, row []T, x T) {
	out = out[:len(row)]
	for i, v := range row {
		out[i] += T(x * v) // the conversion prevents a single rounding of product and sum
	}
}

// moveInGo computes the rows r to r+many-1 of the next root, and updates the entries of b for these rows.
func (t *Triangle) moveInGo(r, many int, c change, next *Triangle, b []float64) {
	for k := range many {
		t.moveRow(r+k, c.first, c, next, &b[r+k])
	}
}

// narrowInGo rounds numbers to single precision.
func narrowInGo(to []float32, from []float64) {
	for i, v := range from {
		to[i] = float32(v)
	}
}
