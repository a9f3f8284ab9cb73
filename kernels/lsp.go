package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer/gopls"
)

const lspVerb = "lsp"

// lspCommand returns the command that jupyter-lsp starts, because of the settings of lab.
func lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:    lspVerb + " CHECKOUT",
		Short:  "Answer a page that edits notebooks, by the Language Server Protocol (started by JupyterLab)",
		Hidden: true,
		Args:   bad(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.Chdir(args[0]); err != nil {
				return badInput(err)
			}
			return serveLSP(cmd.Context())
		},
	}
}

// configureLSP writes settings with this server for jupyter-lsp, and switches off its search for servers of other
// languages. It returns a folder for JUPYTER_CONFIG_PATH.
func (k kit) configureLSP(dir, notebooks string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"LanguageServerManager": map[string]any{"autodetect": false,
		"language_servers": map[string]any{"gopls": map[string]any{
			"version": 2, "argv": []string{self, lspVerb, k.repo.around(notebooks)}, "languages": []string{"go"},
			"mime_types": []string{"text/x-go"}, "display_name": "gopls", "requires_documents_on_disk": false,
		}}}})
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "config")
	if err := os.MkdirAll(filepath.Join(folder, "jupyter_server_config.d"), 0o700); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "jupyter_server_config.d", "gopls.json"), text, 0o600)
}

// goLine matches the version of Go that a module requires.
var goLine = regexp.MustCompile(`(?m)^go \S+$`)

// serveLSP answers on standard input and output, in a workspace next to the module around the working folder.
func serveLSP(ctx context.Context) error {
	k, g, err := installed(ctx)
	if err != nil {
		return err
	}
	m, _, err := here()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
	if err != nil {
		return err
	}
	// lab removes Jupyter's runtime folder in the end, even if jupyter-lsp has killed this process.
	own, err := os.MkdirTemp(os.Getenv("JUPYTER_RUNTIME_DIR"), "hyper-lsp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(own)
	dir, tmp := filepath.Join(own, "work"), filepath.Join(own, "tmp")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(tmp, 0o700)); err != nil {
		return err
	}
	version := goLine.FindString(string(text))
	err = errors.Join(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module notebooks\n\n"+version+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "go.work"), []byte(goWork(version, m.dir)), 0o600))
	if err != nil {
		return err
	}
	start := func() (io.ReadWriteCloser, error) {
		// While the user types, gopls stops "go list" repeatedly, and each stopped command leaves a temporary folder.
		return gopls.Start(filepath.Join(k.tools, "gopls"), dir, k.kernelEnv(g, tmp), os.Stderr)
	}
	return gopls.RunEditor(ctx, both{os.Stdin, os.Stdout}, start, dir)
}

// goWork returns the go.work of a workspace that has its own folder and the one of a module.
func goWork(version, module string) string {
	return fmt.Sprintf("%s\n\nuse (\n\t.\n\t%q\n)\n", version, module)
}

// both combines a reader and a writer into a stream.
type both struct {
	io.Reader
	io.WriteCloser
}
