// Package backend opens the GoMLX backend on which all packages of hyper run. No other package opens backends.
//
// There are two engines. "go" is GoMLX's pure-Go backend: it needs only the Go toolchain, not even a C compiler.
// "xla:cpu" and "xla:cuda" are XLA, which is loaded at run time from a PJRT plugin (a shared library) in one of
// [PluginDirs]. They need a binary that was built with cgo. Opening a backend never uses the network: GoMLX's download
// of plugins is disabled.
//
// XLA takes seconds to compile a program. Compiled programs are kept in [CompileCacheDir], so that the next process
// that needs a program loads it in a fraction of the time, and computes the same bytes. The key of a program is a hash
// of everything that determines the machine code: the program, XLA's options and flags, the content and version of the
// plugin, the processors with their instruction sets, and the devices with their driver. The folder belongs to the user
// and is closed to others, because it contains native code. A file that is damaged or foreign is not used: the program
// is compiled again and replaces it. If several processes need a program at the same time, one of them compiles it and
// the others wait for at most two minutes.
//
// A program that is built with -race and runs on "go" ends with "checkptr: pointer arithmetic result points to invalid
// allocation": GoMLX's matrix products move pointers past the end of an array, but do not read there. Disable this
// check in builds and tests:
//
//	go test -race -gcflags=all=-d=checkptr=0 ./hyper/agent
package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// The names of the backends in Open, in the flag --backend and in result files.
const (
	Go      = "go"
	XLACPU  = "xla:cpu"
	XLACUDA = "xla:cuda"
)

// Known lists the names that Open accepts.
var Known = []string{Go, XLACPU, XLACUDA}

// Home returns the folder for files that the project prepares on a machine: $HYPERMODELS_HOME, or the folder
// hypermodels in the user's cache folder. The folder may not exist. Home returns "" for a user without a home folder: a
// folder with a known name among temporary files could belong to another user.
func Home() string {
	if home := os.Getenv("HYPERMODELS_HOME"); home != "" {
		return home
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "hypermodels")
}

// PluginDirs lists the folders in which PJRT plugins are searched; the first match counts. They are
// $PJRT_PLUGIN_LIBRARY_PATH, the folder "pjrt" in [Home] (filled by `go run ./kernels`), and the two
// folders of go-xla's installer.
func PluginDirs() []string {
	dirs := filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH"))
	if home := Home(); home != "" {
		dirs = append(dirs, filepath.Join(home, "pjrt"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local", "lib", "go-xla"))
	}
	dirs = append(dirs, "/usr/local/lib/go-xla")
	return slices.DeleteFunc(dirs, func(d string) bool { return d == "" })
}

// PluginFile returns the file name of the PJRT plugin for a device, "cpu" or "cuda".
func PluginFile(device string) string { return "pjrt_c_api_" + device + "_plugin.so" }

// PluginPath returns the path of the plugin for a device ("cpu" or "cuda"), or "" if no folder of [PluginDirs] has it.
func PluginPath(device string) string {
	for _, dir := range PluginDirs() {
		path := filepath.Join(dir, PluginFile(device))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if abs, err := filepath.Abs(path); err == nil {
				return abs
			}
		}
	}
	return ""
}

// Default returns the name of the backend that Open("") opens: $HYPER_BACKEND if it is set; otherwise "xla:cpu" if this
// binary can load XLA and the plugin is found; otherwise "go". A GPU is used only on request.
func Default() string {
	if name := os.Getenv("HYPER_BACKEND"); name != "" {
		return name
	}
	if HasXLA && PluginPath("cpu") != "" {
		return XLACPU
	}
	return Go
}

var (
	mu     sync.Mutex
	opened = map[string]compute.Backend{}
)

// Open returns the backend with the given name, or the [Default] for "". A process opens each backend once and shares
// it; the backend is safe for concurrent use. The error says what is wrong and what to do. Open never falls back to
// another backend.
func Open(name string) (compute.Backend, error) {
	if name == "" {
		name = Default()
	}
	mu.Lock()
	defer mu.Unlock()
	if b, ok := opened[name]; ok {
		return b, nil
	}
	b, err := open(name)
	if err != nil {
		return nil, err
	}
	opened[name] = b
	return b, nil
}

// Check returns an error if a backend cannot work on this machine. It does not open the backend: the plugin may still
// fail to load.
func Check(name string) error {
	if !slices.Contains(Known, name) {
		return fmt.Errorf("unknown backend %q%s; choose one of %s", name, nearest.Hint(name, Known),
			strings.Join(Known, ", "))
	}
	if name == Go {
		return nil
	}
	if !HasXLA {
		return fmt.Errorf("backend %q needs a binary built with cgo: install a C compiler and build with "+
			"CGO_ENABLED=1, or use --backend go", name)
	}
	if device := device(name); PluginPath(device) == "" {
		return fmt.Errorf("backend %q: no %s in %s; `go run ./kernels setup` installs the CPU plugin "+
			"(with --cuda also the CUDA one), or use --backend go",
			name, PluginFile(device), strings.Join(PluginDirs(), ", "))
	}
	return nil
}

func device(name string) string { return strings.TrimPrefix(name, "xla:") }

func open(name string) (compute.Backend, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	if name == Go {
		// Run one operation after the other, each on all processors. Operations that run side by side can wait for each
		// other's workers forever, and cost more.
		return compute.NewWithConfig(Go + ":ops_sequential")
	}
	path := PluginPath(device(name))
	b, err := openXLA(name, path)
	if err != nil {
		return nil, fmt.Errorf("backend %q: the plugin %s does not load (%v); %s, or use --backend go", name, path,
			cause(err), remedy(name, err))
	}
	return b, nil
}

// remedy says what to do about a plugin that does not load.
func remedy(name string, err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "libcuda.so.1"), strings.Contains(text, "No visible GPU"): // messages about the driver
		return "it needs an NVIDIA GPU and NVIDIA's driver (give a container --gpus all)"
	case name == XLACUDA:
		return "reinstall it by `go run ./kernels setup --cuda`"
	}
	return "reinstall it by `go run ./kernels setup`"
}

// cause returns the innermost error: go-xla wraps a failed load in layers that repeat its path.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
