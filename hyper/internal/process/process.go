// Package process asks the operating system about this process and about the memory of the machine. Only Linux answers
// here. On other systems a size of memory is 0, and the processor time is the time since the process started.
//
//	if free := process.FreeMemory(); free > 0 {
//		fmt.Println(process.Bytes(free), "are free")
//	}
package process

import "fmt"

// Bytes describes a number of bytes in words, such as 1.5 GB.
func Bytes(n int64) string {
	switch { // %.3g writes 1000 as 1e+03
	case n >= 999_500_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 999_500:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g kB", float64(n)/1e3)
}
