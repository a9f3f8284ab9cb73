//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package pjrt

// #include "hook.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
)

// compile is PJRT_Client_Compile for the plugin in a slot. go-xla calls it.
//
//export compile
func compile(slot C.int, arguments unsafe.Pointer) *C.error {
	mu.Lock()
	p := plugins[slot]
	mu.Unlock()
	args := (*C.compile_args)(arguments)
	key, err := p.key(args)
	if err != nil {
		return p.original(args)
	}
	if p.load(args, key) {
		return nil
	}
	unlock, waited := p.cache.Lock(key)
	defer unlock()
	if waited {
		p.count(func(c *Counts) { c.Waited++ })
	}
	if p.load(args, key) {
		return nil
	}
	if e := p.original(args); e != nil {
		return e
	}
	if err := p.store(args, key); err != nil {
		p.mu.Lock()
		p.unusable = err
		p.mu.Unlock()
	}
	return nil
}

// original lets the plugin compile.
func (p *Plugin) original(args *C.compile_args) *C.error {
	p.count(func(c *Counts) { c.Compiled++ })
	return p.call(C.CLIENT_COMPILE, unsafe.Pointer(args))
}

// load loads the program from the cache. It reports whether this succeeded.
func (p *Plugin) load(args *C.compile_args, key compiled.Key) bool {
	program, ok := p.cache.Get(key)
	if !ok {
		return false
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(unsafe.SliceData(program))
	bytes := (*C.char)(unsafe.Pointer(unsafe.SliceData(program)))
	in := C.load_args{client: args.client, bytes: bytes, bytes_size: C.size_t(len(program))}
	in.struct_size = C.size_t(unsafe.Sizeof(in))
	if !p.done(p.call(C.EXECUTABLE_DESERIALIZE_AND_LOAD, unsafe.Pointer(&in))) {
		p.cache.Remove(key)
		return false
	}
	args.executable = in.executable
	p.count(func(c *Counts) { c.Loaded++ })
	return true
}

// store puts the compiled program into the cache.
func (p *Plugin) store(args *C.compile_args, key compiled.Key) error {
	executable := C.get_args{object: args.executable}
	executable.struct_size = C.size_t(unsafe.Sizeof(executable))
	if !p.done(p.call(C.LOADED_EXECUTABLE_GET_EXECUTABLE, unsafe.Pointer(&executable))) {
		return errors.New("the plugin cannot serialise compiled programs")
	}
	defer func() {
		in := C.executable_destroy_args{executable: executable.result}
		in.struct_size = C.size_t(unsafe.Sizeof(in))
		p.done(p.call(C.EXECUTABLE_DESTROY, unsafe.Pointer(&in)))
	}()
	out := C.serialize_args{executable: executable.result}
	out.struct_size = C.size_t(unsafe.Sizeof(out))
	if !p.done(p.call(C.EXECUTABLE_SERIALIZE, unsafe.Pointer(&out))) {
		return errors.New("the plugin cannot serialise compiled programs")
	}
	defer C.free_serialized(&out)
	return p.cache.Put(key, unsafe.Slice((*byte)(unsafe.Pointer(out.bytes)), int(out.bytes_size)))
}

// key returns the key of the program for its client.
func (p *Plugin) key(args *C.compile_args) (compiled.Key, error) {
	client, err := p.client(args.client)
	if err != nil {
		return compiled.Key{}, err
	}
	bytes := func(text *C.char, n C.size_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(text)), int(n)) }
	usable := fmt.Append(nil, compiled.Usable())
	return compiled.KeyOf(p.about, usable, client, bytes(args.program.format, args.program.format_size),
		bytes(args.options, args.options_size), bytes(args.program.code, args.program.code_size)), nil
}

// client describes a client: its platform, version and devices.
func (p *Plugin) client(client unsafe.Pointer) ([]byte, error) {
	in := C.devices_args{client: client}
	in.struct_size = C.size_t(unsafe.Sizeof(in))
	if !p.done(p.call(C.CLIENT_ADDRESSABLE_DEVICES, unsafe.Pointer(&in))) {
		return nil, errors.New("the devices are not known")
	}
	var out []byte
	about := func(function C.int, object unsafe.Pointer) (err error) {
		in := C.text_args{object: object}
		in.struct_size = C.size_t(unsafe.Sizeof(in))
		if !p.done(p.call(function, unsafe.Pointer(&in))) {
			return errors.New("the client does not describe itself")
		}
		out = append(append(out, C.GoStringN(in.text, C.int(in.text_size))...), '\n')
		return nil
	}
	err := errors.Join(about(C.CLIENT_PLATFORM_NAME, client), about(C.CLIENT_PLATFORM_VERSION, client))
	for _, device := range unsafe.Slice(in.devices, int(in.devices_size)) {
		description := C.get_args{object: device}
		description.struct_size = C.size_t(unsafe.Sizeof(description))
		if !p.done(p.call(C.DEVICE_GET_DESCRIPTION, unsafe.Pointer(&description))) {
			return nil, errors.New("the devices are not known")
		}
		err = errors.Join(err, about(C.DEVICE_DESCRIPTION_KIND, description.result),
			about(C.DEVICE_DESCRIPTION_DEBUG_STRING, description.result))
	}
	return out, err
}

func (p *Plugin) call(function C.int, args unsafe.Pointer) *C.error {
	return C.call(p.api, function, args)
}

// done reports whether e is nil. It frees an error that is not nil.
func (p *Plugin) done(e *C.error) bool {
	if e == nil {
		return true
	}
	in := C.error_destroy_args{error: e}
	in.struct_size = C.size_t(unsafe.Sizeof(in))
	p.call(C.ERROR_DESTROY, unsafe.Pointer(&in))
	return false
}
