package layer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// shim is a script named go that precedes Go in GoNB's PATH. GoNB runs `go get` or `go get -t` before each cell, which
// would use the network for packages that the workspace already has; the script answers these at once. For `go build
// -o` and `go test -c -o` of a cell's program it calls [RunBuild]. @PROGRAM@ is the program with the verbs, @DIR@ the
// folder of the kernel, and $HYPERMODELS_GO the real Go.
const shim = `#!/bin/sh
case "$#:$*" in
"1:get" | "2:get -t") exit 0 ;;
esac
case "${1-} ${2-}" in
"build -o") out=${3-} ;;
"test -c") out=${4-} ;;
*) out= ;;
esac
if [ -z "$out" ] || [ -z "${GONB_TMP_DIR-}" ] || [ "$out" != "$GONB_TMP_DIR/${GONB_TMP_DIR##*/}" ]; then
	exec "$HYPERMODELS_GO" "$@"
fi
exec @PROGRAM@ build @DIR@ "$@"
`

// importsShim is a script named goimports, which GoNB runs as `goimports -w main.go`: see [RunImports].
const importsShim = `#!/bin/sh
exec @PROGRAM@ imports @DIR@ "$@"
`

// goplsShim is a script named gopls, which GoNB runs as `gopls -listen ADDRESS`. It ends at once, because the kernel
// has its own gopls, see [gopls].
const goplsShim = `#!/bin/sh
case "${1-}" in -listen) exit 0 ;; esac
exec @GOPLS@ "$@"
`

// writeShim writes the scripts for a kernel with a folder. program is the path of the program with the verbs, and gopls
// the path of the real gopls.
func writeShim(kernel, program, gopls string) error {
	dir := ShimDir(kernel)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fill := strings.NewReplacer("@PROGRAM@", quote(program), "@DIR@", quote(kernel), "@GOPLS@", quote(gopls))
	return errors.Join(os.WriteFile(filepath.Join(dir, "go"), []byte(fill.Replace(shim)), 0o700),
		os.WriteFile(filepath.Join(dir, "goimports"), []byte(fill.Replace(importsShim)), 0o700),
		os.WriteFile(filepath.Join(dir, "gopls"), []byte(fill.Replace(goplsShim)), 0o700))
}

// ShimDir returns the folder of a kernel that must come first in its engine's PATH. The folder has scripts named `go`,
// `goimports` and `gopls`.
func ShimDir(dir string) string { return filepath.Join(dir, "bin") }
