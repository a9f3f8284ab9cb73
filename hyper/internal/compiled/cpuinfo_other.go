//go:build !darwin

package compiled

import "os"

func cpuinfo() (string, error) {
	text, err := os.ReadFile("/proc/cpuinfo")
	return string(text), err
}
