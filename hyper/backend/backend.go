// Package backend opens the GoMLX backend that everything in hyper runs on. It is the one place that does so.
//
// Two engines are known. "go" is GoMLX's pure-Go backend: it needs nothing but the Go toolchain, not even a C compiler.
// "xla:cpu" and "xla:cuda" are XLA, loaded at run time from a PJRT plugin (a shared library) found in one of
// [PluginDirs]; they need a binary built with cgo. Opening never touches the network: GoMLX's own plugin download is
// off.
//
// XLA takes seconds to compile a program. What it compiled is kept in [CompileCacheDir], so that the next process that
// needs the program loads it in a fraction of the time, and computes the same bytes. The key of a program is a hash of
// all that decides the machine code: the program, XLA's options and flags, the plugin's content and version, the
// processors with their instruction sets, the devices and their driver. The folder is the user's own and closed to
// others, since native code comes out of it. A file that is damaged or foreign is not used: the program is compiled
// anew and replaces it. Of processes that need a program at once, one compiles it and the others wait for it, for two
// minutes at most.
//
// A program built with -race that runs on "go" ends with "checkptr: pointer arithmetic result points to invalid
// allocation": GoMLX's matrix products step pointers past the end of an array, which they then do not read. Leave that
// check out, in builds and tests alike:
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

// Names of the backends, as Open, the command's --backend flag and result files spell them.
const (
	Go      = "go"
	XLACPU  = "xla:cpu"
	XLACUDA = "xla:cuda"
)

// Known lists the names that Open accepts, in the order in which "best" is searched from the end.
var Known = []string{Go, XLACPU, XLACUDA}

// Home is the folder with what the project prepares on a machine: $HYPERMODELS_HOME, or hypermodels in the user's
// cache folder. It may not exist. It is "" for a user without a home folder: what lay in a folder for temporary files,
// under a name that everybody knows, could be somebody else's.
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

// PluginDirs lists the folders searched for PJRT plugins, first match wins: $PJRT_PLUGIN_LIBRARY_PATH, the project's
// own ("pjrt" in [Home], filled by `go run ./kernels`), and the two that go-xla's installer uses.
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

// PluginFile is the file name of the PJRT plugin of a device, "cpu" or "cuda".
func PluginFile(device string) string { return "pjrt_c_api_" + device + "_plugin.so" }

// PluginPath returns where the plugin of a device ("cpu" or "cuda") lies, or "" when no folder of [PluginDirs] has it.
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

// Default is the name that Open("") opens: $HYPER_BACKEND when set, else "xla:cpu" where this binary can load XLA and
// its plugin is found, else "go". A GPU is used when asked for.
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

// Open returns the backend of that name, or of [Default] for "". A backend is opened once a process and shared: it is
// safe for concurrent use. The error says what is wrong and what to do; it is never a fallback to another backend.
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

// Check tells what a backend lacks here, without opening it: nil does not mean that its plugin loads.
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
		// One operation after the other, each on all processors: operations side by side can wait for each other's
		// workers for ever, and cost more.
		return compute.NewWithConfig(Go + ":ops_sequential")
	}
	path := PluginPath(device(name))
	serve(name, path)
	// NVIDIA's TF32, which go-xla takes where a path names CUDA, multiplies with three decimals.
	b, err := compute.NewWithConfig("xla:" + path + ",tf32=false")
	if err != nil {
		return nil, fmt.Errorf("backend %q: the plugin %s does not load (%v); %s, or use --backend go", name, path,
			cause(err), remedy(name, err))
	}
	return b, nil
}

// remedy is what to do about a plugin that does not load.
func remedy(name string, err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "libcuda.so.1"), strings.Contains(text, "No visible GPU"): // the driver's
		return "it needs an NVIDIA GPU and NVIDIA's driver (give a container --gpus all)"
	case name == XLACUDA:
		return "reinstall it by `go run ./kernels setup --cuda`"
	}
	return "reinstall it by `go run ./kernels setup`"
}

// cause is the innermost error: go-xla wraps a failed load in layers that repeat its path.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
