package workers

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onShare calls f on a thread that may use only the k-th of n shares of the allowed cores. XLA chooses the size and the
// cores of its thread pool by the thread that loads it.
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
