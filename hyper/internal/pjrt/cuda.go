//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package pjrt

import (
	"os"
	"path/filepath"
	"strings"

	gopjrt "github.com/gomlx/go-xla/pjrt"
)

// cudaFolder sets the XLA flag for the folder with the compiler ptxas and libdevice that belong to a CUDA plugin, as
// go-xla does for plugins that it loads itself. NVIDIA's wheels have them in nvidia/cu13.
func cudaFolder(plugin string) {
	const flag = "--xla_gpu_cuda_data_dir="
	folder := filepath.Join(filepath.Dir(filepath.Dir(plugin)), "nvidia", "cu13")
	flags := os.Getenv("XLA_FLAGS")
	info, err := os.Stat(folder)
	if err != nil || !info.IsDir() || !gopjrt.IsCUDAName(filepath.Base(plugin)) || strings.Contains(flags, flag) {
		return
	}
	_ = os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" "+flag+folder))
}

// driver returns the version of NVIDIA's driver, which compiles the last step for a GPU, or "" if there is no driver.
func driver() string {
	text, _ := os.ReadFile("/proc/driver/nvidia/version")
	return string(text)
}
