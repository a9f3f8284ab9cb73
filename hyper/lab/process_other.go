//go:build !linux

package lab

import "time"

var started = time.Now()

// processorTime is the time since the process started: what it used of it is not known.
func processorTime() time.Duration { return time.Since(started) }

// onShare calls f. Only Linux lets a thread choose its cores here.
func onShare(_, _ int, f func()) { f() }

// peakMemory is not known.
func peakMemory() int64 { return 0 }

// forgetPeak does nothing.
func forgetPeak() {}

// FreeMemory is not known: 0.
func FreeMemory() int64 { return 0 }
