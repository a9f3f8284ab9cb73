package lab

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// onShare calls f on a thread that may use only the k-th of n shares of the allowed cores. XLA sizes and places its
// thread pool by the thread that loads it.
func onShare(k, n int, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, mine unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < n {
		f()
		return
	}
	seen, count := 0, all.Count()
	for cpu := 0; seen < count; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		if seen*n/count == k {
			mine.Set(cpu)
		}
		seen++
	}
	if unix.SchedSetaffinity(0, &mine) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &all) }()
	}
	f()
}

// processorTime is what all threads of this process took so far.
func processorTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// peakMemory is the most memory that this process had, in bytes.
func peakMemory() int64 { return kilobytes("/proc/self/status", "VmHWM:") }

// forgetPeak has peakMemory begin anew, from what the process has now.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// FreeMemory is the memory that programs may still take, in bytes, or 0 where the system does not tell: the machine's,
// or the process's control group's if that is less.
func FreeMemory() int64 {
	free := kilobytes("/proc/meminfo", "MemAvailable:")
	limit, err1 := number("/sys/fs/cgroup/memory.max")
	used, err2 := number("/sys/fs/cgroup/memory.current")
	if err1 == nil && err2 == nil {
		free = min(free, limit-used)
	}
	return free
}

// kilobytes reads a line such as "VmHWM:  123 kB" of a file, as bytes; 0 is for none.
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
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is an error
}
