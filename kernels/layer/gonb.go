package layer

import (
	"regexp"
	"strings"
	"time"
)

// This file is what the layer knows of GoNB itself: what its output looks like, what it is given, and what it runs.
// TestGoNB holds it against the GoNB that is pinned, and names what another version has changed.

// GoNBVersion is the version that this file was written for.
const GoNBVersion = "0.11.4"

// GoNBArguments are those of its command line but for -kernel: it compiles cells in a workspace with the module in dir,
// shows the compiler's words as they are, and keeps its own log in a folder, out of Jupyter's terminal.
func GoNBArguments(dir, log string) []string {
	return []string{"-go_work=" + dir, "-raw_error", "-logtostderr=false", "-stderrthreshold=FATAL", "-log_dir=" + log}
}

// probe is a request that GoNB answers at once and without effect.
const probe = "kernel_info_request"

// settle is how long after a question GoNB may take to note who has asked. It sends the question first (PromptInput in
// its internal/kernel/messages.go) and loses an answer that comes before the note: the cell would wait for ever.
const settle = 250 * time.Millisecond

// gonbTarget is that of the comm which a page opens to GoNB.
const gonbTarget = "gonb_comm"

// position is anything that GoNB could take for a line of the program that it makes of a cell.
var position = regexp.MustCompile(`((?:[^\s:]*/)?)([^\s:/]*?)(main(?:_test)?)(\.go:\d+)`)

// Cell magics after which a cell is no Go code.
var scriptMagics = []string{"%%bash", "%%sh", "%%script"}

// notGo are all of GoNB's.
var notGo = append([]string{"%%writefile", "%%gx"}, scriptMagics...)

// magics are the names of special lines, those of this program too.
var magics = []string{"%%", "%args", "%autoget", "%capture", "%cd", "%env", "%exec", "%goflags", "%goworkfix", "%help",
	"%" + HyperVerb, "%" + KeptVerb, "%list", "%ls", "%main", "%noautoget", "%remove", "%reset", "%rm", "%test", "%track",
	"%untrack", "%version", "%wasm", "%widgets", "%widgets_hb", "%with_inputs", "%with_password"}

// bare removes GoNB's comment prefix from a line.
func bare(line string) string { return strings.TrimPrefix(line, "//gonb:") }

// shim is a program called go that stands before Go in GoNB's PATH. It answers the bare `go get` and `go get -t` that
// GoNB runs before each cell, which would ask the network for what the workspace already holds, and has [RunBuild]
// compile the program that GoNB makes of a cell, by `go build -o` or `go test -c -o`. @PROGRAM@ is the program with the
// verbs, @PLANS@ a folder of the kernel's, and $HYPERMODELS_GO the real Go.
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
exec @PROGRAM@ build @PLANS@ "$@"
`

// importsShim is a program called goimports, which GoNB runs as `goimports -w main.go`: see [RunImports].
const importsShim = `#!/bin/sh
exec @PROGRAM@ imports @PLANS@ "$@"
`

// goplsShim is a program called gopls, which GoNB runs as `gopls -listen ADDRESS`: the kernel has its own, see [gopls].
const goplsShim = `#!/bin/sh
case "${1-}" in -listen) exit 0 ;; esac
exec @GOPLS@ "$@"
`
