package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
)

// pluginHashes caches the hashes of plugins in this process.
var pluginHashes sync.Map // from seenFile to string

// seenFile identifies the content of a plugin's file without reading the file.
type seenFile struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`     // bytes
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Inode    uint64 `json:"inode"`    // 0 if the operating system has none
}

// hashedFile is the content of a file in PluginHashDir.
type hashedFile struct {
	seenFile
	SHA256 string `json:"sha256"`
}

// PluginHashDir returns the folder in which [PluginHash] keeps its results, a small file for each plugin. It is in the
// compile cache, which can be writable where [Home] is not, as in an image. If the cache is off, it is in Home. It is
// "" if there is no Home either.
func PluginHashDir() string {
	if dir := CompileCacheDir(); dir != "" {
		return filepath.Join(dir, "plugins")
	}
	if home := Home(); home != "" {
		return filepath.Join(home, "plugins")
	}
	return ""
}

// PluginHash returns the SHA-256 of a plugin's file, in hexadecimal. A plugin may have hundreds of megabytes, so the
// hash is computed once and kept in [PluginHashDir]. It is valid while the file's path, size, modification time and
// inode stay the same. If the folder cannot be written, each process computes the hash. The error is about reading the
// plugin. PluginHash is safe for concurrent use, also by several processes.
func PluginHash(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	seen, err := see(path)
	if err != nil {
		return "", err
	}
	if known, ok := pluginHashes.Load(seen); ok {
		return known.(string), nil
	}
	kept, hash, ok := "", "", false
	if dir := PluginHashDir(); dir != "" {
		kept = filepath.Join(dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(path))))
		hash, ok = readHash(kept, seen)
	}
	if !ok {
		if hash, err = hashFile(path); err != nil {
			return "", err
		}
		if again, err := see(path); err != nil || again != seen {
			return "", fmt.Errorf("%s changed while it was read: try again", path)
		}
		if kept != "" {
			_ = keepHash(kept, hashedFile{seen, hash}) // if this fails, the next process computes the hash again
		}
	}
	pluginHashes.Store(seen, hash)
	return hash, nil
}

func see(path string) (seenFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return seenFile{}, err
	}
	seen := seenFile{Path: path, Size: info.Size(), Modified: info.ModTime().UnixNano()}
	// The value is a *syscall.Stat_t, except on Windows.
	if system := reflect.Indirect(reflect.ValueOf(info.Sys())); system.Kind() == reflect.Struct {
		if inode := system.FieldByName("Ino"); inode.CanUint() {
			seen.Inode = inode.Uint()
		}
	}
	return seen, nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// readHash reads what keepHash wrote. ok is false unless the file is complete and describes the plugin as it is now.
func readHash(kept string, seen seenFile) (hash string, ok bool) {
	f, err := os.Open(kept)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	var h hashedFile
	if json.NewDecoder(io.LimitReader(f, 1<<16)).Decode(&h) != nil || h.seenFile != seen {
		return "", false
	}
	raw, err := hex.DecodeString(h.SHA256)
	return h.SHA256, err == nil && len(raw) == sha256.Size
}

// keepHash writes the file atomically, readable only by its user.
func keepHash(kept string, h hashedFile) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := compiled.MakeFolder(filepath.Dir(kept)); err != nil {
		return err
	}
	return compiled.WriteFile(kept, append(text, '\n'))
}
