//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

// Package pjrt puts a compile cache between go-xla and a PJRT plugin: it loads the plugin, copies its table of
// functions, and hands go-xla the copy with a PJRT_Client_Compile that looks into the cache first.
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
	about []byte // what of the machine and the plugin decides the machine code, beside the client

	mu       sync.Mutex
	counts   Counts
	unusable error // why what is compiled cannot be kept, once that is known
}

// Counts are of the programs that a process asked for.
type Counts struct {
	Compiled int // by XLA
	Loaded   int // from the cache
	Waited   int // for another process, or goroutine, that compiled the same
}

// The plugins of this process, by the slot of their hook.
var (
	mu      sync.Mutex
	plugins []*Plugin
)

// Register loads a plugin's library and registers it with go-xla under its path, which must be absolute. hash is that
// of the library's content. It must not run beside anything else that registers or opens plugins.
func Register(path, hash string, cache *compiled.Cache) (*Plugin, error) {
	mu.Lock()
	defer mu.Unlock()
	if len(plugins) == C.MOST_PLUGINS {
		return nil, fmt.Errorf("more than %d plugins", len(plugins))
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
		return nil, errors.New("no memory")
	}
	plugins = append(plugins, p)
	return p, gopjrt.RegisterPreloadedPlugin(path, uintptr(unsafe.Pointer(hooked)))
}

// check looks whether the plugin has what the cache needs.
func (p *Plugin) check(hash string) error {
	version := p.api.version
	if version.major_version != 0 {
		return fmt.Errorf("its PJRT version is %d.%d, and the compile cache knows 0", version.major_version,
			version.minor_version)
	}
	for _, f := range []C.int{C.EXECUTABLE_SERIALIZE, C.EXECUTABLE_DESERIALIZE_AND_LOAD,
		C.LOADED_EXECUTABLE_GET_EXECUTABLE, C.EXECUTABLE_DESTROY} {
		if C.has(p.api, f) == 0 {
			return errors.New("it cannot serialise what it compiles")
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

// Counts tells what has been compiled and loaded so far.
func (p *Plugin) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Unusable is why what the plugin compiles cannot be kept, or nil as far as is known.
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
