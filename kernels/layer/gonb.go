package layer

import (
	"regexp"
	"strings"
	"time"
)

// This file has all that the layer knows about GoNB: the form of its output, its arguments, and the programs that it
// runs. TestGoNB compares this file to the pinned version of GoNB, and names what another version has changed.

// GoNBVersion is the version of GoNB that this file was written for.
const GoNBVersion = "0.11.4"

// GoNBArguments returns the command line of GoNB, without its program name and -kernel. With it, GoNB compiles cells in
// a workspace with the module in dir, shows compiler errors unchanged, and writes its log to the folder log instead of
// Jupyter's terminal.
func GoNBArguments(dir, log string) []string {
	return []string{"-go_work=" + dir, "-raw_error", "-logtostderr=false", "-stderrthreshold=FATAL", "-log_dir=" + log}
}

// probe is the type of a request that GoNB answers at once and without effect.
const probe = "kernel_info_request"

// settle is the time after a question within which GoNB registers its sender. It sends the question first (PromptInput
// in its internal/kernel/messages.go) and loses an answer that arrives before the registration: the cell would wait
// forever.
const settle = 250 * time.Millisecond

// gonbTarget is the target of the comm that a page opens to GoNB.
const gonbTarget = "gonb_comm"

// position matches all text that GoNB may take for a position in the program of a cell.
var position = regexp.MustCompile(`((?:[^\s:]*/)?)([^\s:/]*?)(main(?:_test)?)(\.go:\d+)`)

// scriptMagics lists the cell magics whose cells are scripts.
var scriptMagics = []string{"%%bash", "%%sh", "%%script"}

// notGo lists all cell magics whose cells are not Go code.
var notGo = append([]string{"%%writefile", "%%gx"}, scriptMagics...)

// magics lists the names of special lines, including the ones that this program adds to GoNB's.
var magics = []string{"%%", "%args", "%autoget", "%capture", "%cd", "%env", "%exec", "%goflags", "%goworkfix", "%help",
	"%" + HyperVerb, "%" + KeptVerb, "%list", "%ls", "%main", "%noautoget", "%remove", "%reset", "%rm", "%test", "%track",
	"%untrack", "%version", "%wasm", "%widgets", "%widgets_hb", "%with_inputs", "%with_password"}

// bare removes GoNB's comment prefix from a line.
func bare(line string) string { return strings.TrimPrefix(line, "//gonb:") }

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
