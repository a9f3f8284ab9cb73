//go:build !darwin && !linux

package compiled

import (
	"errors"
	"runtime"
)

func cpuinfo() (string, error) { return "", errors.New("not supported on " + runtime.GOOS) }

// Usable returns the number of processors that the calling thread may use.
func Usable() int { return runtime.NumCPU() }
