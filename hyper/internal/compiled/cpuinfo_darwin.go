package compiled

import "golang.org/x/sys/unix"

func cpuinfo() (string, error) {
	brand, err := unix.Sysctl("machdep.cpu.brand_string")
	return "model name: " + brand, err
}
