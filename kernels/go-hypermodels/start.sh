# Starts the kernel of the checkout that this file lies in. `kernels lab` and `kernels run` name themselves in
# HYPERMODELS_KERNELS; any other Jupyter that finds the kernel (JUPYTER_PATH=<checkout>) compiles the launcher first.
# `kernels install` tells where Go is: a Jupyter that was not started from a shell may not have it in its PATH.
set -eu
[ -z "${HYPERMODELS_GO_DIR:-}" ] || PATH=$PATH:$HYPERMODELS_GO_DIR
connection=$1
export HYPERMODELS_NOTEBOOK_DIR="$PWD"
cd -- "$(dirname -- "$0")/../.."
if [ -n "${HYPERMODELS_KERNELS:-}" ]; then
	exec "$HYPERMODELS_KERNELS" kernel "$connection"
fi
exec go run ./kernels kernel "$connection"
