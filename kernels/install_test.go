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
)

// below returns the files and folders below a folder.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestUninstallRemovesWhatInstallWrote(t *testing.T) {
	prefix := t.TempDir()
	data := filepath.Join(prefix, "share", "jupyter")
	k := kit{repo: testCheckout(t), store: store(t.TempDir())}
	other := filepath.Join(data, "kernels", "python3")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	before := below(t, prefix)
	for range 2 { // the second time replaces the first
		if err := k.installKernels(t.Context(), data); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(data, "kernels", kernelName, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
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
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := below(t, prefix); !slices.Equal(before, after) {
		t.Errorf("files left: %v, before %v, want no difference", after, before)
	}
}

func TestUninstallKeepsWhatOthersWrote(t *testing.T) {
	data := filepath.Join(t.TempDir(), "jupyter")
	k := kit{repo: testCheckout(t), store: store(t.TempDir())}
	if err := k.installKernels(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(data, "kernels", kernelName)
	for _, name := range []string{"kernel.json", "mine.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := readManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.remove(); err != nil {
		t.Fatal(err)
	}
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
	if err := k.offerCUDA([]string{kernelName, cudaKernelName}, goTool{path: "/go/bin/go"}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"HYPER_BACKEND": "xla:cuda"`) {
		t.Errorf("kernel.json for CUDA: got %s (%v), want HYPER_BACKEND", text, err)
	}
	if err := k.offerCUDA([]string{kernelName}, goTool{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the CUDA kernel is offered although CUDA does not load")
	}
}
