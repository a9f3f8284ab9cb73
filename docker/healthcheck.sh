#!/bin/sh
# Succeeds if the container's JupyterLab answers, or if the container was started for something else.
tr '\0' ' ' </proc/1/cmdline | grep -q '/bin/entrypoint lab ' || exit 0
exec python3 -c '
import sys, urllib.request as request
try:
    answer = request.build_opener(request.ProxyHandler({})).open("http://127.0.0.1:8888/api", timeout=5)
except OSError as err:
    sys.exit(f"JupyterLab does not answer: {err}")
print(answer.read().decode())'
