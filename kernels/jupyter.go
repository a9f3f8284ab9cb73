package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kernelName is the kernel's folder under kernels/, which is its name for Jupyter.
const kernelName = "go-hypermodels"

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

// mergeEnv sets variables in an environment.
func mergeEnv(env []string, set ...string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(old string) bool {
		name, _, _ := strings.Cut(old, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(out, set...)
}

// pageConfig turns off JupyterLab's question about news and its look for a newer version: both ask the network.
const pageConfig = `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}
`

// configureJupyter writes the little that JupyterLab cannot be told on its command line.
func (k kit) configureJupyter() error {
	dir := k.store.path("jupyter", "config", "labconfig")
	file := filepath.Join(dir, "page_config.json")
	if _, err := os.Stat(file); err == nil {
		return nil // The user may have changed it since.
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(pageConfig), 0o644)
}
