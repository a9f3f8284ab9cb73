//go:build !linux

package workers

import "os/exec"

// Detach does nothing: a worker ends when its standard input does.
func Detach(*exec.Cmd) {}
