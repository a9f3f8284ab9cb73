package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kernelName is the name of the kernel in Jupyter, and of the kernel's folder in kernels/.
const kernelName = "go-hypermodels"

// labExtensions is the folder of the project's JupyterLab extensions.
const labExtensions = "kernels/labextensions"

// launcherVar is the environment variable with the path of this program, for kernels/go-hypermodels/start.sh.
const launcherVar = "HYPERMODELS_KERNELS"

// jupyterEnv returns the environment of Jupyter and its children. JUPYTER_PATH makes the kernel of the checkout visible
// without an installation. Private folders leave the user's own Jupyter unchanged.
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

// runtimeDir makes a folder for the runtime files of a Jupyter and its kernels. Only this user can access it, so that
// no one else can connect to a kernel. The caller removes the folder.
func runtimeDir() (string, error) { return shortDir("hyper-jupyter-") }

// shortDir makes a temporary folder with a path that is short enough for sockets, in $TMPDIR or else in /tmp.
func shortDir(prefix string) (string, error) {
	why := errors.New("the path of the folder for temporary files is too long for sockets: set TMPDIR to a shorter path")
	for _, base := range []string{"", "/tmp"} {
		dir, err := os.MkdirTemp(base, prefix)
		if err != nil {
			why = fmt.Errorf("the folder for temporary files cannot be used, set TMPDIR to another folder: %w", err)
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
	maxSocketPath = 103 // macOS allows 104 bytes including a zero at the end, Linux 108
)

// mergeEnv returns an environment with some variables set.
func mergeEnv(env []string, set ...string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(old string) bool {
		name, _, _ := strings.Cut(old, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(out, set...)
}

// labConfig has settings of JupyterLab that its command line cannot set.
var labConfig = map[string]string{
	// JupyterLab does not offer news and does not look for a newer version, because both use the network.
	"page_config.json": `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}
`,
	// The first completion may wait until gopls has read the packages; JupyterLab's default is one second. Completions
	// are shown with signatures and documentation. Without the times of the last change, the names of notebooks have
	// enough space.
	"default_setting_overrides.json": `{
  "@jupyterlab/completer-extension:manager": {"providerTimeout": 30000, "showDocumentationPanel": true},
  "@jupyterlab/lsp-extension:plugin": {"activate": "on"},
  "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": false}
}
`,
}

// configureJupyter writes missing settings. It does not change existing ones, because the user may have edited them.
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
