//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import "github.com/gomlx/go-xla/compute/xla"

// HasXLA tells whether this binary can load XLA plugins: true when built with cgo on a platform that XLA supports.
const HasXLA = true

// No step of ours may download anything: a missing plugin is an error that says what to do.
func init() { xla.EnableAutoInstall(false) }
