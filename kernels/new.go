package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

// projectFiles has templates of a project's files. A file's name is the template's name without its extension.
//
//go:embed project/*.tmpl
var projectFiles embed.FS

func newCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Begin a project of your own: a module that imports hyper, with a notebook",
		Long: "Makes the folder DIR with a Go module: a small world and an agent that explores it, a test, and a notebook.\n" +
			"In it, `go tool kernels lab` opens JupyterLab and `go tool kernels run` executes the notebook. The module requires\n" +
			"the release of this command, or uses the checkout in which the command runs.",
		Args: bad(func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("new takes one argument, DIR, and got %d", len(args))
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := newProject(args[0], name)
			if err != nil {
				return badInput(err)
			}
			return p.make(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&name, "module", "", "the module's `PATH` (default example.com/ and the folder's name)")
	return cmd
}

// project is a module to make.
type project struct {
	dir     string
	Module  string // its path
	Package string // the name of its package
	Version string // required version of this project
	Replace string // checkout that replaces the version, or ""
}

// newProject checks the user's arguments.
func newProject(dir, name string) (project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return project{}, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return project{}, fmt.Errorf("%s exists and is not an empty folder: choose another folder", dir)
	}
	name = cmp.Or(name, "example.com/"+strings.ToLower(filepath.Base(dir)))
	p := project{dir: dir, Module: name, Package: packageName(name)}
	if out, err := inEmptyFolder("go", "mod", "init", name); err != nil {
		return project{}, fmt.Errorf("a module cannot be called %q (give another by --module): %s", name, lastLine(out))
	}
	p.Version, p.Replace, err = origin()
	return p, err
}

// taken lists names that the project's package cannot have, besides Go's keywords: its notebook uses them.
var taken = []string{"", "context", "fmt", "main", "must", "notebook", "plot"}

// packageName returns a package name for a module path: the letters and digits of its last element.
func packageName(name string) string {
	word := regexp.MustCompile(`[a-z][a-z0-9]*`).FindString(strings.ToLower(path.Base(name)))
	if token.IsKeyword(word) || slices.Contains(taken, word) {
		return "project"
	}
	return word
}

// inEmptyFolder runs a command in a new, empty folder.
func inEmptyFolder(name string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hyper-new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, goEnv()
	return cmd.CombinedOutput()
}

// origin returns the version of this project to which this command belongs, and the checkout that replaces it, or "".
func origin() (version, replace string, err error) {
	_, files, err := here()
	if err == nil {
		if _, version, released := strings.Cut(filepath.Base(string(files)), "@"); released {
			return version, "", nil
		}
		return "v0.0.0", string(files), nil
	}
	if version, ok := releaseVersion(); ok {
		return version, "", nil
	}
	return "", "", err
}

// make writes the project's files into a folder with a temporary name, and renames the folder when it is complete.
func (p project) make(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(p.dir), filepath.Base(p.dir)+partial)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Chmod(dir, 0o755), p.write(dir)); err != nil {
		return err
	}
	if err := p.resolve(ctx, dir); err != nil {
		return err
	}
	if err := os.Rename(dir, p.dir); err != nil {
		return err
	}
	say("made %s in %s; open its notebook:\n\n    cd %s\n    go tool kernels lab\n", p.Module, p.dir, p.dir)
	return nil
}

// write writes the files from the templates.
func (p project) write(dir string) error {
	all, err := template.ParseFS(projectFiles, "project/*.tmpl")
	if err != nil {
		return err
	}
	for _, t := range all.Templates() {
		f, err := os.Create(filepath.Join(dir, strings.TrimSuffix(t.Name(), ".tmpl")))
		if err != nil {
			return err
		}
		if err := errors.Join(t.Execute(f, p), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// resolve completes go.mod and go.sum. With the checksums of a checkout, it downloads nothing that this machine already
// has.
func (p project) resolve(ctx context.Context, dir string) error {
	if p.Replace != "" {
		sums, err := checkout(p.Replace).read("go.sum")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
		}
		if err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=mod", "-deps", "-test", "./...", "tool")
	cmd.Dir, cmd.Env = dir, goEnv()
	var complaint strings.Builder
	cmd.Stderr = &complaint
	say("resolving the dependencies of %s", p.Module)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go list: %w\n%s", err, strings.TrimSpace(complaint.String()))
	}
	return nil
}
