//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

import "errors"

// HasXLA tells whether this binary can load XLA plugins: true when built with cgo on a platform that XLA supports.
const HasXLA = false

func serve(name, path string) {}

// CompilingOf tells what a backend, which must be open, has compiled so far. The error says why the compile cache does
// not serve it.
func CompilingOf(string) (Compiling, error) { return Compiling{}, errors.New("it compiles nothing") }
