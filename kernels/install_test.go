package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// below returns the files and folders below a folder.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	must.M(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		list = append(list, filepath.ToSlash(rel))
		return err
	}))
	return list
}

func TestUninstallRemovesWhatInstallWrote(t *testing.T) {
	prefix := t.TempDir()
	data := filepath.Join(prefix, "share", "jupyter")
	k := kit{repo: testCheckout(t), store: store(t.TempDir())}
	other := filepath.Join(data, "kernels", "python3")
	must.M(os.MkdirAll(other, 0o755))
	before := below(t, prefix)
	for range 2 { // the second time replaces the first
		must.M(k.installKernels(t.Context(), data))
	}
	text := must.M1(os.ReadFile(filepath.Join(data, "kernels", kernelName, "kernel.json")))
	var s kernelSpec
	if err := json.Unmarshal(text, &s); err != nil || len(s.Argv) != 3 || !filepath.IsAbs(s.Argv[1]) ||
		s.Interrupt != "message" {
		t.Errorf("kernel.json: got %s (%v), want an absolute path and interrupts by message", text, err)
	}
	if _, err := os.Stat(s.Argv[1]); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(data, "labextensions", "hypermodels-links", "package.json")); err != nil {
		t.Error(err)
	}
	cmd := command()
	cmd.SetArgs([]string{"uninstall", "--prefix", prefix})
	must.M(cmd.ExecuteContext(t.Context()))
	if after := below(t, prefix); !slices.Equal(before, after) {
		t.Errorf("files left: %v, before %v, want no difference", after, before)
	}
}

func TestUninstallKeepsWhatOthersWrote(t *testing.T) {
	data := filepath.Join(t.TempDir(), "jupyter")
	k := kit{repo: testCheckout(t), store: store(t.TempDir())}
	must.M(k.installKernels(t.Context(), data))
	dir := filepath.Join(data, "kernels", kernelName)
	for _, name := range []string{"kernel.json", "mine.txt"} {
		must.M(os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o644))
	}
	m := must.M1(readManifest(data))
	must.M(m.remove())
	if got := strings.Join(below(t, dir), " "); got != ". kernel.json mine.txt" {
		t.Errorf("files left: got %s", got)
	}
	if _, err := readManifest(data); !errors.Is(err, errNotInstalled) {
		t.Errorf("second uninstall: got error %v, want errNotInstalled", err)
	}
	if err := k.installKernels(t.Context(), data); err == nil {
		t.Error("install has replaced a file that it did not write")
	}
	if got := strings.Join(below(t, dir), " "); got != ". kernel.json mine.txt" {
		t.Errorf("files left after a failed install: %s", got)
	}
}

func TestKernelsForCUDA(t *testing.T) {
	k := kit{repo: testCheckout(t), store: store(t.TempDir())}
	file := k.store.path("jupyter", "data", "kernels", cudaKernelName, "kernel.json")
	must.M(k.offerCUDA([]string{kernelName, cudaKernelName}, goTool{path: "/go/bin/go"}))
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"HYPER_BACKEND": "xla:cuda"`) {
		t.Errorf("kernel.json for CUDA: got %s (%v), want HYPER_BACKEND", text, err)
	}
	must.M(k.offerCUDA([]string{kernelName}, goTool{}))
	if _, err := os.Stat(file); err == nil {
		t.Error("the CUDA kernel is offered although CUDA does not load")
	}
}
