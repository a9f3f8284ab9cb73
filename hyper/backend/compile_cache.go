package backend

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/compiled"
)

const (
	// CompileCacheLimit is the largest number of bytes that the compile cache keeps. Above it, the programs that were
	// not used for the longest time are removed.
	CompileCacheLimit = 1 << 30

	// compileCacheWait is the longest time that a process waits for another process that compiles the same program.
	compileCacheWait = 2 * time.Minute
)

// CompileCacheDir returns the folder of the compile cache, or "" if the cache is off. $HYPER_COMPILE_CACHE is a folder
// or "off". If it is not set, the folder is "compiled" in [Home], and the cache is off if there is no Home.
func CompileCacheDir() string {
	switch dir := os.Getenv("HYPER_COMPILE_CACHE"); dir {
	case "":
		if home := Home(); home != "" {
			return filepath.Join(home, "compiled")
		}
		return ""
	case "off":
		return ""
	default:
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
}

// CompileCache describes the contents of the compile cache.
type CompileCache struct {
	Dir      string
	Programs int
	Bytes    int64
}

// ReadCompileCache reads the contents of the compile cache, which must not be off. The error says why the folder cannot
// be used, for example because it belongs to another user. Each process then compiles all its programs.
func ReadCompileCache() (CompileCache, error) {
	c, err := openCompileCache()
	if err != nil {
		return CompileCache{Dir: CompileCacheDir()}, err
	}
	programs, bytes := c.Content()
	return CompileCache{c.Dir, programs, bytes}, nil
}

// ClearCompileCache removes all programs of the compile cache. It reports whether there was a cache.
func ClearCompileCache() (bool, error) {
	if _, err := os.Lstat(CompileCacheDir()); err != nil { // the cache is off or does not exist
		return false, nil
	}
	c, err := openCompileCache()
	if err != nil {
		return false, err
	}
	return true, errors.Join(os.RemoveAll(PluginHashDir()), c.Clear())
}

func openCompileCache() (*compiled.Cache, error) {
	return compiled.Open(CompileCacheDir(), CompileCacheLimit, compileCacheWait)
}

// Compiling counts the programs that this process requested from a backend.
type Compiling struct {
	Compiled int // compiled by XLA
	Loaded   int // loaded from the compile cache
	Waited   int // waited for another process that compiled the same program
	Replaced int // damaged or foreign files of the cache, which were not used
}
