//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package pjrt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"
)

// XLA gets the folder of a CUDA plugin in which NVIDIA's wheels have ptxas. A user's own setting stays.
func TestCUDAFolder(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "nvidia", "cu13")
	must.M(os.MkdirAll(folder, 0o755))
	told := "--xla_gpu_cuda_data_dir=" + folder
	for _, c := range []struct{ plugin, flags, want string }{
		{"pjrt/pjrt_c_api_cuda_plugin.so", "", told},
		{"pjrt/pjrt_c_api_cuda_plugin.so", "--a=b", "--a=b " + told},
		{"pjrt/pjrt_c_api_cuda_plugin.so", "--xla_gpu_cuda_data_dir=/c", "--xla_gpu_cuda_data_dir=/c"},
		{"cuda/pjrt_c_api_cpu_plugin.so", "", ""},
		{"else/where/pjrt_c_api_cuda_plugin.so", "", ""},
	} {
		t.Setenv("XLA_FLAGS", c.flags)
		cudaFolder(filepath.Join(home, c.plugin))
		if got := os.Getenv("XLA_FLAGS"); got != c.want {
			t.Errorf("%s with %q: XLA_FLAGS is %q, want %q", c.plugin, c.flags, got, c.want)
		}
	}
}
