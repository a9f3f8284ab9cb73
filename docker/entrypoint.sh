#!/bin/sh
# What a container does with its arguments: `lab` and `run` as in `go run ./kernels`, anything else is a command.
set -eu
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
