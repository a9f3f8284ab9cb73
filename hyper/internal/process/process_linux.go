package process

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the processor time that all threads of this process have used.
func ProcessorTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// FreeMemory returns the number of bytes of memory that programs may still use, or 0 if the operating system does not
// report it. It is the smaller of the free memory of the machine and of the control group of the process.
func FreeMemory() int64 {
	free := kilobytes("/proc/meminfo", "MemAvailable:")
	limit, err1 := number("/sys/fs/cgroup/memory.max")
	used, err2 := number("/sys/fs/cgroup/memory.current")
	if err1 == nil && err2 == nil {
		free = min(free, limit-used)
	}
	return free
}

// kilobytes reads a line such as "MemAvailable:  123 kB" of a file, and returns the number of bytes. It returns 0 if there is
// no such line.
func kilobytes(path, name string) int64 {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

func number(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // the text "max" is an error
}
