//go:build !linux

package lab

import "time"

var started = time.Now()

// processorTime returns the time since the process started, because the processor time is not known on this system.
func processorTime() time.Duration { return time.Since(started) }

// onShare calls f. Only Linux lets a thread choose its cores here.
func onShare(_, _ int, f func()) { f() }

// peakMemory returns 0: the memory is not known on this system.
func peakMemory() int64 { return 0 }

// forgetPeak does nothing.
func forgetPeak() {}

// FreeMemory returns 0: the free memory is not known on this system.
func FreeMemory() int64 { return 0 }
