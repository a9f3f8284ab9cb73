package build

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// goScript is a script named go that precedes Go in GoNB's PATH. GoNB runs `go get` or `go get -t` before each cell,
// which would use the network for packages that the workspace already has; the script answers these at once. For `go
// build -o` and `go test -c -o` of a cell's program it calls [Run]. @PROGRAM@ is the program with the verbs, @DIR@ the
// folder of the kernel, and $HYPERMODELS_GO the real Go.
const goScript = `#!/bin/sh
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

// importsScript is a script named goimports, which GoNB runs as `goimports -w main.go`: see [RunImports].
const importsScript = `#!/bin/sh
exec @PROGRAM@ imports @DIR@ "$@"
`

// goplsScript is a script named gopls, which GoNB runs as `gopls -listen ADDRESS`. It ends at once, because the kernel
// has its own gopls, see package gopls.
const goplsScript = `#!/bin/sh
case "${1-}" in -listen) exit 0 ;; esac
exec @GOPLS@ "$@"
`

// WriteScripts writes the scripts that GoNB runs as go, goimports and gopls, for the kernel with this folder. program
// is the path of the program with the verbs, and gopls the path of the real gopls.
func WriteScripts(kernel, program, gopls string) error {
	dir := ScriptDir(kernel)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fill := strings.NewReplacer("@PROGRAM@", wrapper.Quote(program), "@DIR@", wrapper.Quote(kernel),
		"@GOPLS@", wrapper.Quote(gopls))
	for name, script := range map[string]string{"go": goScript, "goimports": importsScript, "gopls": goplsScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fill.Replace(script)), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// ScriptDir returns the folder of a kernel that must come first in its engine's PATH. The folder has scripts named
// `go`, `goimports` and `gopls`.
func ScriptDir(dir string) string { return filepath.Join(dir, "bin") }
