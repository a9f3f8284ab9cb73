//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	gopjrt "github.com/gomlx/go-xla/pjrt"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
	"github.com/hypermodels/hypermodels/hyper/internal/pjrt"
)

// HasXLA reports whether this binary can load XLA plugins: true if it was built with cgo on a platform that XLA
// supports.
const HasXLA = true

// This project never downloads a plugin on its own: a missing plugin is an error that says what to do.
func init() { xla.EnableAutoInstall(false) }

// cached is a plugin that the compile cache serves, or the reason why the cache does not serve it.
type cached struct {
	plugin *pjrt.Plugin
	cache  *compiled.Cache
	err    error
}

var caches = map[string]cached{} // by backend that was opened; guarded by mu

var errCacheOff = errors.New("HYPER_COMPILE_CACHE is off")

// openXLA opens the backend of the plugin at path, with the compile cache in front of the plugin. If the cache fails,
// go-xla loads the plugin itself, without a cache.
func openXLA(name, path string) (compute.Backend, error) {
	if _, done := caches[name]; !done {
		caches[name] = newCached(path)
	}
	var options gopjrt.NamedValuesMap
	if device(name) == "cpu" {
		// Programs here use one device. The plugin offers 4 by default, and then starts at least 4 threads. On fewer
		// processors, these threads take work from each other and from the programs.
		options = gopjrt.NamedValuesMap{"cpu_device_count": int64(1)}
	}
	// Disable NVIDIA's TF32, which multiplies with only three decimals. go-xla enables it if the path contains "cuda".
	return xla.NewWithOptions(path+",tf32=false", options)
}

func newCached(path string) (c cached) {
	if CompileCacheDir() == "" {
		c.err = errCacheOff
		return c
	}
	if c.cache, c.err = openCompileCache(); c.err != nil {
		return c
	}
	var hash string
	if hash, c.err = PluginHash(path); c.err != nil {
		return c
	}
	c.plugin, c.err = pjrt.Register(path, hash, c.cache)
	return c
}

// CompilingOf returns the number of programs that an open backend has compiled so far. The error says why the compile
// cache does not serve the backend.
func CompilingOf(name string) (Compiling, error) {
	mu.Lock()
	defer mu.Unlock()
	c, ok := caches[name]
	switch {
	case !ok:
		return Compiling{}, errors.New("this backend does not compile")
	case c.err != nil:
		return Compiling{}, c.err
	}
	n := c.plugin.Counts()
	return Compiling{n.Compiled, n.Loaded, n.Waited, int(c.cache.Replaced())}, c.plugin.Unusable()
}
