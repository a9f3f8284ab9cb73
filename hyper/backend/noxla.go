//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

import (
	"errors"

	"github.com/gomlx/compute"
)

// HasXLA reports whether this binary can load XLA plugins: true if it was built with cgo on a platform that XLA
// supports.
const HasXLA = false

func openXLA(name, path string) (compute.Backend, error) {
	return nil, errors.New("this binary was built without XLA")
}

// CompilingOf returns the number of programs that an open backend has compiled so far. The error says why the compile
// cache does not serve the backend.
func CompilingOf(string) (Compiling, error) {
	return Compiling{}, errors.New("this backend does not compile")
}
