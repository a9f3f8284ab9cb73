#!/bin/sh
# Runs the arguments of a container: `lab` and `run` as in `go run ./kernels`, and anything else as a command.
set -eu

# All written files lie in the home folder. Go's cache there begins with the packages that the image has compiled: a
# copy of the cache's index, whose entries Go may write again, and links to the other files. The hyper command compiles
# nothing.
cache=$HOME/.cache/go-build
if ! mkdir -p "$TMPDIR" "$HOME/jupyter" "$cache" 2>/dev/null || ! [ -w "$TMPDIR" ]; then
	echo "user $(id -u) cannot write to $HOME: do not mount a folder there, or mount one that this user can write to" >&2
	exit 1
fi
if [ "${1-}" != hyper ]; then
	find "$cache" -xtype l -delete # Links to files of another version of the image.
	tar -C "$cache" -xf /opt/hypermodels/go-build.tar --skip-old-files --no-same-owner --warning=no-timestamp
fi

# The same for programs that XLA compiled. They lie in a folder of this user, because other users' native code is not
# run.
compiled=${HYPER_COMPILE_CACHE:-off}
if [ "$compiled" != off ] && [ -e /opt/hypermodels/compiled.tar ] && { [ -d "$compiled" ] || mkdir -m 700 "$compiled"; }; then
	tar -C "$compiled" -xf /opt/hypermodels/compiled.tar --skip-old-files --no-same-owner
fi

case "${1-}" in
lab)
	shift
	[ "${1-}" != -- ] || shift
	# Listen on all addresses of the container. The option that publishes the port decides who can reach it.
	exec kernels lab -- --ip=0.0.0.0 --port=8888 --ServerApp.port_retries=0 --no-browser "$@"
	;;
run)
	exec kernels "$@"
	;;
esac
exec "$@"
