package root

// The loops over the numbers of a triangle are made several numbers at a time where the processor can, in assembly, as
// the compiler makes no such loops. They add up in the order of the loops in Go, and multiply and add in two roundings,
// so that results are the same to the bit on every machine. Libraries of such loops have a row's product alone, and
// round once where the processor can.

// addEightInGo adds 8 rows as long as out to it, each times its x, row after row.
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
		out[i] += T(x * v) // the conversion forbids a single rounding of product and sum
	}
}

// moveInGo makes the rows r to r+many-1 of the next root, and goes on with their b.
func (t *Triangle) moveInGo(r, many int, c change, next *Triangle, b []float64) {
	for k := range many {
		t.one(r+k, c.first, c, next, &b[r+k])
	}
}

// narrowInGo rounds numbers to single precision.
func narrowInGo(to []float32, from []float64) {
	for i, v := range from {
		to[i] = float32(v)
	}
}
