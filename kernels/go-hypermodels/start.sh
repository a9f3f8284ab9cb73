# Starts the kernel of this file's checkout. `kernels lab` and `kernels run` set HYPERMODELS_KERNELS to their own
# program. Any other Jupyter that finds the kernel (JUPYTER_PATH=<checkout>) compiles the launcher first. `kernels
# install` sets HYPERMODELS_GO_DIR, because a Jupyter that was not started from a shell may not have Go in its PATH. If
# the kernel cannot start, the notebook shows why: Jupyter itself would only say that the kernel died.
set -eu
[ -z "${HYPERMODELS_GO_DIR:-}" ] || PATH=$PATH:$HYPERMODELS_GO_DIR
connection=$1
export HYPERMODELS_NOTEBOOK_DIR="$PWD"
cd -- "$(dirname -- "$0")/../.."

# explain shows a message in the notebook, by the launcher that setup installed in the project's folder, and exits.
explain() {
	echo "$1" >&2
	case $(uname) in
	Darwin) cache=${HOME:-}/Library/Caches ;;
	*) cache=${XDG_CACHE_HOME:-${HOME:-}/.cache} ;;
	esac
	for program in "${HYPERMODELS_KERNELS:-}" "${HYPERMODELS_HOME:-$cache/hypermodels}"/launcher-*/kernels; do
		[ ! -x "$program" ] || exec "$program" explain "$connection" "$1"
	done
	exit 1
}

# roomy succeeds if files can be written to a folder for temporary files.
roomy() {
	probe=$(mktemp -d "$1/hyper-XXXXXX" 2>/dev/null) || return 1
	room=0
	{ head -c 1000000 /dev/zero >"$probe/room"; } 2>/dev/null || room=1
	rm -rf -- "$probe"
	return $room
}

# Go needs a home, and a folder for temporary files.
if [ -z "${HOME:-}" ]; then
	user=$(id -un 2>/dev/null) || user='?'
	case $user in
	*[!A-Za-z0-9._-]*) ;;
	*) HOME=$(eval "echo ~$user") ;;
	esac
	[ ! -d "${HOME:-}" ] || export HOME
fi
wanted=${TMPDIR:-/tmp}
for TMPDIR in "$wanted" /tmp /var/tmp ""; do
	[ -z "$TMPDIR" ] || ! roomy "$TMPDIR" || break
done
[ -n "$TMPDIR" ] || explain \
	"no file can be written to the folders for temporary files, $wanted, /tmp and /var/tmp: they are missing, full or closed"
export TMPDIR
unset GOTMPDIR

if [ -n "${HYPERMODELS_KERNELS:-}" ]; then
	exec "$HYPERMODELS_KERNELS" kernel "$connection"
fi

# Ignore settings of Go for other projects.
unset GOOS GOARCH
command -v go >/dev/null || explain \
	"no go in PATH, which is needed to compile the kernel and cells: install Go from https://go.dev/dl"
export GO111MODULE=on GOFLAGS=-mod=readonly GOWORK=off
GOOS=$(go env GOHOSTOS 2>/dev/null || true) GOARCH=$(go env GOHOSTARCH 2>/dev/null || true)
export GOOS GOARCH
said=$(go run -exec true ./kernels 2>&1) || explain "the kernel's launcher does not compile in $PWD: $said"
exec go run ./kernels kernel "$connection"
