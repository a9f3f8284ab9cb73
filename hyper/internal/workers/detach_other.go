//go:build !linux

package workers

import "os/exec"

// Detach does nothing on this system: a worker ends when its standard input ends.
func Detach(*exec.Cmd) {}
