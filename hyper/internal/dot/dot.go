// Package dot provides a dot product whose roundings do not depend on the addresses of its vectors in memory.
package dot

// Product returns the dot product of x and y. It adds up in a fixed order. The order of gonum's Dot, and therefore its
// rounding, depends on the addresses of the vectors in memory.
func Product[T float32 | float64](x, y []T) T {
	var a, b, c, d T
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return a + b + c + d
}
