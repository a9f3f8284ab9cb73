package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kernelName is the kernel's folder under kernels/, which is its name for Jupyter.
const kernelName = "go-hypermodels"

// labExtensions is the folder of the project's extensions of JupyterLab.
const labExtensions = "kernels/labextensions"

// launcherVar names this program to kernels/go-hypermodels/start.sh.
const launcherVar = "HYPERMODELS_KERNELS"

// jupyterEnv is the environment of Jupyter and what it starts. JUPYTER_PATH makes the checkout's kernel visible with
// nothing installed, and private folders keep the user's own Jupyter as it is.
func (k kit) jupyterEnv() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	private := k.store.path("jupyter")
	return mergeEnv(os.Environ(),
		"JUPYTER_PATH="+string(k.repo),
		"JUPYTER_CONFIG_DIR="+filepath.Join(private, "config"),
		"JUPYTER_DATA_DIR="+filepath.Join(private, "data"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(private, "runtime"),
		"JUPYTERLAB_SETTINGS_DIR="+filepath.Join(private, "settings"),
		"JUPYTERLAB_WORKSPACES_DIR="+filepath.Join(private, "workspaces"),
		"IPYTHONDIR="+filepath.Join(private, "ipython"),
		"JUPYTER_PREFER_ENV_PATH=1",
		"HYPERMODELS_HOME="+string(k.store),
		launcherVar+"="+self,
	), nil
}

// runtimeDir makes a folder for what a Jupyter and its kernels share while they run. It is this user's alone: nobody
// else can connect to a kernel. The caller removes it.
func runtimeDir() (string, error) { return shortDir("hyper-jupyter-") }

// shortDir makes a temporary folder of a path that is short enough for sockets, in $TMPDIR or else in /tmp.
func shortDir(prefix string) (string, error) {
	why := errors.New("the folder for temporary files has too long a path for sockets: set TMPDIR to a shorter one")
	for _, base := range []string{"", "/tmp"} {
		dir, err := os.MkdirTemp(base, prefix)
		if err != nil {
			why = fmt.Errorf("the folder for temporary files cannot be used, set TMPDIR to another: %w", err)
			continue
		}
		if len(dir)+len(longestSocket) <= maxSocketPath {
			return dir, nil
		}
		os.Remove(dir)
	}
	return "", why
}

const (
	longestSocket = "/kernel-01234567-89ab-cdef-0123-456789abcdef-ipc-5"
	maxSocketPath = 103 // macOS has 104 bytes with a zero at the end, Linux 108
)

// mergeEnv sets variables in an environment.
func mergeEnv(env []string, set ...string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(old string) bool {
		name, _, _ := strings.Cut(old, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(out, set...)
}

// labConfig are JupyterLab's own settings, which it cannot be told on its command line.
var labConfig = map[string]string{
	// No question about news and no look for a newer version: both ask the network.
	"page_config.json": `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}
`,
	// The first completion may wait for gopls to read the packages: JupyterLab would give it one second. Beside the names
	// stands what inspection says: signatures and documentation. And without the times of the last change the notebooks'
	// names can be read.
	"default_setting_overrides.json": `{
  "@jupyterlab/completer-extension:manager": {"providerTimeout": 30000, "showDocumentationPanel": true},
  "@jupyterlab/lsp-extension:plugin": {"activate": "on"},
  "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": false}
}
`,
}

// configureJupyter writes the settings that are not there. The user may have changed the others since.
func (k kit) configureJupyter() error {
	dir := k.store.path("jupyter", "config", "labconfig")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range labConfig {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
