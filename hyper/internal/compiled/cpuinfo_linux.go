package compiled

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func cpuinfo() (string, error) {
	text, err := os.ReadFile("/proc/cpuinfo")
	return string(text), err
}

// Usable returns the number of processors that the calling thread may use.
func Usable() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return runtime.NumCPU()
	}
	return set.Count()
}
