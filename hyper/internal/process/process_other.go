//go:build !linux

package process

import "time"

var started = time.Now()

// ProcessorTime returns the time since the process started, because the processor time is not known on this system.
func ProcessorTime() time.Duration { return time.Since(started) }

// FreeMemory returns 0: the free memory is not known on this system.
func FreeMemory() int64 { return 0 }
