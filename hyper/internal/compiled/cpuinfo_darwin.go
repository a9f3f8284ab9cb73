package compiled

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func cpuinfo() (string, error) {
	brand, err := unix.Sysctl("machdep.cpu.brand_string")
	return "model name: " + brand, err
}

// Usable returns the number of processors that the calling thread may use.
func Usable() int { return runtime.NumCPU() }
