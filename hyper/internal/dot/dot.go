// Package dot has a dot product whose roundings are the same wherever its vectors lie in memory.
package dot

// Product is the sum of products, added up in an order of its own: the order of gonum's Dot depends on where vectors lie in
// memory, and so do its roundings.
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
