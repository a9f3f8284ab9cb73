//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

import "errors"

// HasXLA reports whether this binary can load XLA plugins: true if it was built with cgo on a platform that XLA
// supports.
const HasXLA = false

func useCache(name, path string) {}

// CompilingOf returns the number of programs that an open backend has compiled so far. The error says why the compile
// cache does not serve the backend.
func CompilingOf(string) (Compiling, error) {
	return Compiling{}, errors.New("this backend does not compile")
}
