package root

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX {
		lanes = assembly{addRows32, addRows64, moveRows, narrowFours}
	}
}

//go:noescape
func addRows32(out, rows *float32, first, n int, x *[8]float32)

//go:noescape
func addRows64(out, rows *float64, first, n int, x *[8]float64)

//go:noescape
func moveRows(from, to *float64, first, n int, c *column, b *[4]float64)

//go:noescape
func narrowFours(to *float32, from *float64, n int)
