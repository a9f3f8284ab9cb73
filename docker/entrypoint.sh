#!/bin/sh
# What a container does with its arguments: `lab` and `run` as in `go run ./kernels`, anything else is a command.
set -eu

# All that is written lies in the home folder. Go's cache there begins with what the image has compiled: its index,
# since Go writes entries anew at times, and links to the rest. The hyper command compiles nothing.
cache=$HOME/.cache/go-build
if ! mkdir -p "$TMPDIR" "$HOME/jupyter" "$cache" 2>/dev/null || ! [ -w "$TMPDIR" ]; then
	echo "user $(id -u) cannot write to $HOME: leave it to the image, or mount a folder that this user can write to" >&2
	exit 1
fi
if [ "${1-}" != hyper ]; then
	find "$cache" -xtype l -delete # Links of another version of the image, where the folder was kept.
	tar -C "$cache" -xf /opt/hypermodels/go-build.tar --skip-old-files --no-same-owner --warning=no-timestamp
fi

# Likewise what XLA compiled, in a folder of the user's own: native code from another's is not run.
compiled=${HYPER_COMPILE_CACHE:-off}
if [ "$compiled" != off ] && [ -e /opt/hypermodels/compiled.tar ] && { [ -d "$compiled" ] || mkdir -m 700 "$compiled"; }; then
	tar -C "$compiled" -xf /opt/hypermodels/compiled.tar --skip-old-files --no-same-owner
fi

case "${1-}" in
lab)
	shift
	[ "${1-}" != -- ] || shift
	# All addresses of the container: which of the host's may reach it is said where the port is published.
	exec kernels lab -- --ip=0.0.0.0 --port=8888 --ServerApp.port_retries=0 --no-browser "$@"
	;;
run)
	exec kernels "$@"
	;;
esac
exec "$@"
