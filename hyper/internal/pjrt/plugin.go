//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

// Package pjrt puts a compile cache between go-xla and a PJRT plugin. It loads the plugin, copies its table of
// functions, and gives go-xla the copy, whose PJRT_Client_Compile first looks into the cache.
package pjrt

// #cgo linux LDFLAGS: -ldl
// #include <stdlib.h>
// #include "hook.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	gopjrt "github.com/gomlx/go-xla/pjrt"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
)

// Plugin is a loaded plugin with its cache. Its methods are safe for concurrent use.
type Plugin struct {
	api   *C.api
	cache *compiled.Cache
	about []byte // properties of the machine and the plugin that determine the machine code, except for the client

	mu       sync.Mutex
	counts   Counts
	unusable error // the reason why compiled programs cannot be kept, once it is known
}

// Counts counts the programs that this process requested.
type Counts struct {
	Compiled int // compiled by XLA
	Loaded   int // loaded from the cache
	Waited   int // waited for another process or goroutine that compiled the same program
}

// plugins lists the plugins of this process, by the slot of their hook. mu guards it.
var (
	mu      sync.Mutex
	plugins []*Plugin
)

// Register loads a plugin's library and registers it with go-xla under its path, which must be absolute. hash is the
// hash of the library's content. Register must not run at the same time as other code that registers or opens plugins.
func Register(path, hash string, cache *compiled.Cache) (*Plugin, error) {
	mu.Lock()
	defer mu.Unlock()
	if len(plugins) == C.MOST_PLUGINS {
		return nil, fmt.Errorf("at most %d plugins can be loaded", len(plugins))
	}
	cudaFolder(path)
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var why *C.char
	api := C.load_plugin(name, &why)
	if api == nil {
		return nil, errors.New(C.GoString(why))
	}
	p := &Plugin{api: (*C.api)(unsafe.Pointer(api)), cache: cache}
	if err := p.check(hash); err != nil {
		return nil, err
	}
	hooked := C.hook(api, C.int(len(plugins)))
	if hooked == nil {
		return nil, errors.New("out of memory")
	}
	plugins = append(plugins, p)
	return p, gopjrt.RegisterPreloadedPlugin(path, uintptr(unsafe.Pointer(hooked)))
}

// check returns an error if the plugin lacks something that the cache needs.
func (p *Plugin) check(hash string) error {
	version := p.api.version
	if version.major_version != 0 {
		return fmt.Errorf("its PJRT version is %d.%d, but the compile cache supports only 0", version.major_version,
			version.minor_version)
	}
	for _, f := range []C.int{C.EXECUTABLE_SERIALIZE, C.EXECUTABLE_DESERIALIZE_AND_LOAD,
		C.LOADED_EXECUTABLE_GET_EXECUTABLE, C.EXECUTABLE_DESTROY} {
		if C.has(p.api, f) == 0 {
			return errors.New("it cannot serialise compiled programs")
		}
	}
	processor, err := compiled.Processor()
	if err != nil {
		return err
	}
	p.about = fmt.Appendf(nil, "plugin %s\nPJRT %d.%d\n%s\n%s\n%s", hash, version.major_version, version.minor_version,
		processor, driver(), compiled.Environment())
	return nil
}

// Counts returns the numbers of programs that were compiled and loaded so far.
func (p *Plugin) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Unusable returns the reason why the plugin's compiled programs cannot be kept, or nil if none is known.
func (p *Plugin) Unusable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unusable
}

func (p *Plugin) count(add func(*Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	add(&p.counts)
}
