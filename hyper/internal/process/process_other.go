//go:build !linux

package process

import "time"

var started = time.Now()

// ProcessorTime returns the time since the process started, because the processor time is not known on this system.
func ProcessorTime() time.Duration { return time.Since(started) }

// PeakMemory returns 0: the memory is not known on this system.
func PeakMemory() int64 { return 0 }

// ForgetPeak does nothing.
func ForgetPeak() {}

// FreeMemory returns 0: the free memory is not known on this system.
func FreeMemory() int64 { return 0 }
