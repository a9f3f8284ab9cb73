package compiled

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

func cacheIn(t *testing.T, dir string) *Cache {
	t.Helper()
	return must.M1(Open(dir, 1<<20, time.Minute))
}

func TestWhatIsPutIsFoundByEveryone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "compiled")
	c := cacheIn(t, dir)
	key, other := KeyOf([]byte("program")), KeyOf([]byte("pro"), []byte("gram"))
	if _, ok := c.Get(key); ok {
		t.Error("Get from an empty cache: got a program")
	}
	must.M(c.Put(key, []byte("code")))
	if program, ok := cacheIn(t, dir).Get(key); !ok || string(program) != "code" {
		t.Errorf("got program %q, %v, want the stored one", program, ok)
	}
	if _, ok := c.Get(other); ok {
		t.Error("found under another key: different parts with the same joined text must have different keys")
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder of the cache: got mode %v, error %v, want 0700", info.Mode(), err)
	}
	if file, err := os.Stat(c.path(key)); err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("file of a program: got mode %v, error %v, want 0600", file.Mode(), err)
	}
	if home, err := os.Stat(filepath.Dir(dir)); err != nil || home.Mode().Perm()&0o055 != 0o055 {
		t.Errorf("parent folder, which others may share: got mode %v, error %v", home.Mode(), err)
	}
}

// damages change the file of a program such that it must not be used. Each names the change.
var damages = map[string]func(c *Cache, key Key, random *rand.Rand) error{
	"a bit flipped": func(c *Cache, key Key, random *rand.Rand) error {
		return change(c.path(key), func(b []byte) []byte {
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
			return b
		})
	},
	"cut": func(c *Cache, key Key, random *rand.Rand) error {
		return change(c.path(key), func(b []byte) []byte { return b[:random.IntN(len(b))] })
	},
	"longer": func(c *Cache, key Key, random *rand.Rand) error {
		return change(c.path(key), func(b []byte) []byte { return append(b, make([]byte, 1+random.IntN(100))...) })
	},
	"that of another program, or processor": func(c *Cache, key Key, random *rand.Rand) error {
		other := KeyOf([]byte("another processor"))
		if err := c.Put(other, []byte("foreign code")); err != nil {
			return err
		}
		return os.Rename(c.path(other), c.path(key))
	},
	"open to be written by others": func(c *Cache, key Key, _ *rand.Rand) error { return os.Chmod(c.path(key), 0o622) },
	"a link": func(c *Cache, key Key, _ *rand.Rand) error {
		real := filepath.Join(filepath.Dir(c.Dir), "elsewhere")
		return errors.Join(os.Rename(c.path(key), real), os.Symlink(real, c.path(key)))
	},
	"of another owner": func(c *Cache, key Key, _ *rand.Rand) error {
		if err := os.Chown(c.path(key), 12345, -1); err != nil { // the user is not root
			return os.Chmod(c.path(key), 0o622)
		}
		return nil
	},
}

func change(path string, f func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, f(b), 0o600)
}

func TestDamagedProgramsAreNotUsedAndAreReplaced(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
			for i := range 50 {
				key, program := KeyOf([]byte(fmt.Sprint(i))), bytes.Repeat([]byte{byte(i), 7, 1}, 1+random.IntN(300))
				must.M(c.Put(key, program))
				must.M(damage(c, key, random))
				if got, ok := c.Get(key); ok {
					t.Fatalf("damaged program %d was used: %d bytes of %d", i, len(got), len(program))
				}
				must.M(c.Put(key, program))
				if got, ok := c.Get(key); !ok || !bytes.Equal(got, program) {
					t.Fatalf("damaged program %d was not replaced", i)
				}
			}
			if n := c.Replaced(); n != 50 {
				t.Errorf("%d files counted as not trusted, want 50", n)
			}
		})
	}
}

func TestFolderMustBeTheUsersOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "compiled")
	cacheIn(t, dir)
	must.M(os.Chmod(dir, 0o777))
	cacheIn(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder that others could write to: got mode %v, error %v, want 0700", info.Mode(), err)
	}
	link := dir + "-link"
	must.M(os.Symlink(dir, link))
	if _, err := Open(link, 1, 0); err == nil {
		t.Error("a symbolic link was used as the folder")
	}
	file := dir + "-file"
	must.M(os.WriteFile(file, nil, 0o600))
	if _, err := Open(file, 1, 0); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a file was used as the folder: error %v", err)
	}
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Skip("only root can give a folder to another user")
	}
	if _, err := Open(dir, 1, 0); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("a folder of another user was used: error %v", err)
	}
}

func TestTheLeastRecentlyUsedGo(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
	c.Limit = 10 * (headSize + 1000)
	keys := make([]Key, 12)
	past := time.Now().Add(-time.Minute)
	for i := range keys {
		keys[i] = KeyOf([]byte{byte(i)})
		if i == 10 { // the next one makes too many; of the first two, used long ago, one was just used again
			if _, ok := c.Get(keys[0]); !ok {
				t.Fatal("a recently used program was removed")
			}
		}
		must.M(c.Put(keys[i], make([]byte, 1000)))
		at := past.Add(time.Duration(i) * time.Second)
		if i < 10 && os.Chtimes(c.path(keys[i]), at, at) != nil {
			t.Fatal("the times of a file cannot be set")
		}
	}
	for i, want := range []bool{true, false, false, true} {
		if _, err := os.Stat(c.path(keys[i])); (err == nil) != want {
			t.Errorf("program %d: there %v, want %v", i, err == nil, want)
		}
	}
	if n, size := c.Content(); size > c.Limit || n < 8 {
		t.Errorf("%d programs of %d bytes are left, limit %d", n, size, c.Limit)
	}
}

func TestWhatDeadProcessesLeftGoes(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
	old, fresh := filepath.Join(c.Dir, ".new-1"), filepath.Join(c.Dir, ".new-2")
	for _, path := range []string{old, fresh} {
		must.M(os.WriteFile(path, []byte("half"), 0o600))
	}
	long := time.Now().Add(-2 * time.Hour)
	must.M(os.Chtimes(old, long, long))
	must.M(c.Put(KeyOf(), []byte("code")))
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a temporary file that is two hours old was not removed")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a recent temporary file was removed")
	}
	if n, _ := c.Content(); n != 1 {
		t.Errorf("%d programs, want 1", n)
	}
}

func TestClearLeavesOnlyWhatIsNotOurs(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
	must.M(c.Put(KeyOf(), []byte("code")))
	must.M(c.Clear())
	if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder of the cache: got error %v, want not-exist", err)
	}
	c = cacheIn(t, c.Dir)
	must.M(c.Put(KeyOf(), []byte("code")))
	thesis := filepath.Join(c.Dir, "thesis.tex")
	must.M(os.WriteFile(thesis, nil, 0o600))
	must.M(c.Clear())
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, error %v, want 1", left, err)
	}
}

func TestLockWaitsForTheOther(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
	key := KeyOf([]byte("slow"))
	compilations, waits := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, waited := c.Lock(key)
			defer unlock()
			if _, ok := c.Get(key); !ok {
				time.Sleep(50 * time.Millisecond)
				mu.Lock()
				compilations++
				mu.Unlock()
				must.M(c.Put(key, []byte("code")))
			}
			if waited {
				mu.Lock()
				waits++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if compilations != 1 || waits == 0 {
		t.Errorf("got %d compilations and %d waits, want 1 compilation and some waits", compilations, waits)
	}
	if left, _ := filepath.Glob(c.Dir + "/*" + lockSuffix); len(left) > 0 {
		t.Errorf("lock files left: %v, want none", left)
	}
}

func TestLockWaitsForABoundedTime(t *testing.T) {
	c := cacheIn(t, filepath.Join(t.TempDir(), "compiled"))
	c.Wait = 50 * time.Millisecond
	unlock, waited := c.Lock(KeyOf())
	if waited {
		t.Error("the cache waited although no other process compiles")
	}
	began := time.Now()
	second, waited := c.Lock(KeyOf())
	if took := time.Since(began); !waited || took < c.Wait || took > 20*c.Wait {
		t.Errorf("waited %v for %v, want about Wait", waited, took)
	}
	second()
	unlock()
}

func TestProcessorIsKnownHere(t *testing.T) {
	text, err := Processor()
	if err != nil {
		t.Skip(err) // for example on a system on which XLA does not run
	}
	if again, _ := Processor(); again != text || !strings.Contains(text, "processors\n") {
		t.Errorf("two descriptions of the machine differ, or have no number of processors:\n%s\n%s", text, again)
	}
}

func ExampleOpen() {
	dir := must.M1(os.MkdirTemp("", "example"))
	defer os.RemoveAll(dir)
	c := must.M1(Open(filepath.Join(dir, "compiled"), 1<<30, time.Minute))
	key := KeyOf([]byte("the program"), []byte("the processor"))
	unlock, _ := c.Lock(key)
	defer unlock()
	if _, ok := c.Get(key); !ok {
		fmt.Println(c.Put(key, []byte("what the compiler made")))
	}
	program, ok := c.Get(key)
	fmt.Printf("%s %v\n", program, ok)
	// Output:
	// <nil>
	// what the compiler made true
}
