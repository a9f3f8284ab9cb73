#!/bin/sh
# Stands before go in a kernel's PATH; $HYPERMODELS_GO is the real one.
#
# GoNB runs a bare `go get` before each cell, which would ask the network for what the workspace already holds. The
# program that it makes of a cell is put behind a wrapper (see package layer).
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
rm -f "$out"
"$HYPERMODELS_GO" "$@" || exit
mv "$out" "$out.cell"
cat >"$out" <<END
#!/bin/sh
exec @PROGRAM@ cell "$out.cell" "\$@"
END
chmod 700 "$out"
