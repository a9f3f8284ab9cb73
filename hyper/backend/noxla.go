//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

// HasXLA tells whether this binary can load XLA plugins: true when built with cgo on a platform that XLA supports.
const HasXLA = false
