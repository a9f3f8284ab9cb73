//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"errors"

	"github.com/gomlx/go-xla/compute/xla"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
	"github.com/hypermodels/hypermodels/hyper/internal/pjrt"
)

// HasXLA tells whether this binary can load XLA plugins: true when built with cgo on a platform that XLA supports.
const HasXLA = true

// No step of ours may download anything: a missing plugin is an error that says what to do.
func init() { xla.EnableAutoInstall(false) }

// cached is a plugin that the compile cache serves, or why it does not.
type cached struct {
	plugin *pjrt.Plugin
	cache  *compiled.Cache
	err    error
}

var caches = map[string]cached{} // of each backend that was opened; guarded by mu

var errCacheOff = errors.New("HYPER_COMPILE_CACHE is off")

// serve puts the compile cache before a backend's plugin. Where that cannot be done go-xla loads the plugin itself, as
// without a cache.
func serve(name, path string) {
	if _, done := caches[name]; !done {
		caches[name] = newCached(path)
	}
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

// CompilingOf tells what a backend, which must be open, has compiled so far. The error says why the compile cache does
// not serve it.
func CompilingOf(name string) (Compiling, error) {
	mu.Lock()
	defer mu.Unlock()
	c, ok := caches[name]
	switch {
	case !ok:
		return Compiling{}, errors.New("it compiles nothing")
	case c.err != nil:
		return Compiling{}, c.err
	}
	n := c.plugin.Counts()
	return Compiling{n.Compiled, n.Loaded, n.Waited, int(c.cache.Replaced())}, c.plugin.Unusable()
}
