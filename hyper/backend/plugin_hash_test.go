package backend

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// A plugin's hash is the hash of its content. It is kept for the next process, and is computed again if the file was
// replaced. A damaged record is not used.
func TestPluginHash(t *testing.T) {
	t.Setenv("HYPER_COMPILE_CACHE", filepath.Join(t.TempDir(), "compiled"))
	dir := t.TempDir()
	plugin, link := filepath.Join(dir, "plugin.so"), filepath.Join(dir, "link.so")
	write := func(path, text string) {
		t.Helper()
		must.M(os.WriteFile(path, []byte(text), 0o600))
	}
	check := func(what, path, content string) {
		t.Helper()
		got, err := PluginHash(path)
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(content))); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %s", what, got, err, want)
		}
	}
	write(plugin, "one")
	must.M(os.Symlink(plugin, link))
	check("a plugin", plugin, "one")
	check("a link to it", link, "one")
	kept, _ := filepath.Glob(filepath.Join(PluginHashDir(), "*"))
	if len(kept) != 1 {
		t.Fatalf("%d files are kept, want 1: %v", len(kept), kept)
	}
	info := must.M1(os.Stat(plugin))
	nextProcess := func() { pluginHashes = sync.Map{} }

	// The next process uses the kept hash: a change of the content alone is not noticed, which shows that the process
	// does not read the file.
	write(plugin, "uno")
	must.M(os.Chtimes(plugin, info.ModTime(), info.ModTime()))
	nextProcess()
	check("kept", plugin, "one")
	for _, damage := range []string{"", "{", `{"sha256": "ab"}`} {
		write(kept[0], damage)
		nextProcess()
		check("kept as "+damage, plugin, "uno")
	}

	must.M(os.Chtimes(plugin, time.Time{}, info.ModTime().Add(time.Second)))
	write(filepath.Join(dir, "new"), "two")
	must.M(os.Rename(filepath.Join(dir, "new"), plugin))
	check("another file in its place", link, "two")
	if _, err := PluginHash(filepath.Join(dir, "none.so")); !os.IsNotExist(err) {
		t.Errorf("missing plugin: got error %v, want not-exist", err)
	}
}
