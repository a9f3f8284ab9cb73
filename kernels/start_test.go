package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// started is a kernel that a test has started in the same way as Jupyter.
type started struct {
	shell, iopub *zmtp.Client
	log          *strings.Builder
}

// start starts a kernel in a folder that is not a checkout. The variables in env are set, or removed if they end in "="
// without a value. The kernel stops at the end of the test.
func start(t *testing.T, env ...string) started {
	t.Helper()
	return startBy(t, env, "sh", testCheckout(t).path("kernels", kernelName, "start.sh"))
}

// startBy starts a kernel by another command, to which the path of a connection file is added.
func startBy(t *testing.T, env []string, argv ...string) started {
	t.Helper()
	dir := must.M1(os.MkdirTemp("/tmp", "hyper-start-")) // a short path, because it contains sockets
	connection := filepath.Join(dir, "kernel-1.json")
	must.M(os.WriteFile(connection, fmt.Appendf(nil, `{"transport": "ipc", "ip": %q, "key": "", "shell_port": 1,
		"control_port": 2, "stdin_port": 3, "iopub_port": 4, "hb_port": 5, "signature_scheme": "hmac-sha256"}`,
		filepath.Join(dir, "s")), 0o600))
	cmd := exec.Command(argv[0], append(argv[1:], connection)...)
	cmd.Dir = dir
	cmd.Env = mergeEnv(os.Environ(), fmt.Sprint("JPY_PARENT_PID=", os.Getpid()))
	for _, v := range env {
		name, _, set := strings.Cut(v, "=")
		cmd.Env = mergeEnv(cmd.Env, name+"=")
		cmd.Env = cmd.Env[:len(cmd.Env)-1]
		if set {
			cmd.Env = append(cmd.Env, v)
		}
	}
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = 20 * time.Second
	must.M(cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		os.RemoveAll(dir)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	shell, err := zmtp.Dealer(ctx, "ipc://"+filepath.Join(dir, "s-1"), "client")
	if err != nil {
		t.Fatalf("cannot start: %v\n%s", err, log)
	}
	iopub := must.M1(zmtp.Subscriber(ctx, "ipc://"+filepath.Join(dir, "s-4")))
	must.M1(iopub.Receive()) // the welcome message
	return started{shell, iopub, log}
}

// ask sends a request and returns the content of its reply.
func (s started) ask(t *testing.T, kind string, content any) (reply struct{ Status, Evalue string }) {
	t.Helper()
	head := fmt.Sprintf(`{"msg_id": %q, "session": "s", "username": "u", "msg_type": %q, "version": "5.4"}`, kind, kind)
	must.M(s.shell.Send(zmtp.Message{[]byte("<IDS|MSG>"), nil, []byte(head), []byte("{}"), []byte("{}"),
		must.M1(json.Marshal(content))}))
	m, err := s.shell.Receive()
	if err != nil {
		t.Fatalf("%s: got no reply: %v\n%s", kind, err, s.log)
	}
	must.M(json.Unmarshal(m[5], &reply))
	return reply
}

// cell executes a cell.
func (s started) cell(t *testing.T) (status, value string) {
	t.Helper()
	if r := s.ask(t, "kernel_info_request", struct{}{}); r.Status != "ok" {
		t.Errorf("kernel_info: got %+v, want ok", r)
	}
	r := s.ask(t, "execute_request", map[string]any{"code": "import \"" + modulePath + "/hyper/serve/api\"\n" +
		"%%\nfmt.Println(must.M1(api.Duration(0).MarshalText()), runtime.GOOS)\n!go version"})
	return r.Status, r.Evalue
}

// outputs returns the outputs of a cell that fails, until the cell has ended.
func (s started) outputs() (said string) {
	for ended := false; !ended; {
		m := must.M1(s.iopub.Receive())
		if string(m[0]) == "error" {
			said = string(m[6])
		}
		ended = said != "" && strings.Contains(string(m[6]), `"idle"`)
	}
	return said
}

// needsKernel skips a test if setup has not run.
func needsKernel(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts kernels")
	}
	t.Chdir(string(testCheckout(t)))
	if _, _, err := installed(t.Context()); err != nil {
		t.Skip(err)
	}
}

// The kernel starts and runs a cell with any settings of the user for other Go projects, without a home folder, and
// without a usable folder for temporary files.
func TestStartsWithTheUsersSettings(t *testing.T) {
	needsKernel(t)
	own := filepath.Join(t.TempDir(), "env")
	must.M(os.WriteFile(own, []byte("GOFLAGS=-mod=vendor\nGO111MODULE=off\nGOOS=windows\nGOARCH=arm64\n"), 0o600))
	for name, env := range map[string][]string{
		"settings": {"GOFLAGS=-mod=vendor", "GO111MODULE=off", "GOWORK=/no/such/go.work", "GOOS=windows", "GOARCH=arm64",
			"TMPDIR=/no/such/folder", "GOTMPDIR=/no/such/folder"},
		"settings by go env -w": {"GOENV=" + own, "TMPDIR=" + longFolder(t)},
		"no home":               {"HOME", "XDG_CACHE_HOME", "HYPERMODELS_HOME", "TMPDIR=" + fullFolder(t)},
		"all of these, lab": {"GOENV=" + own, "GOFLAGS=-mod=vendor", "GOWORK=/no/such/go.work",
			launcherVar + "=" + testprogram.Build(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a start waits more than it computes
			if status, value := start(t, env...).cell(t); status != "ok" {
				t.Errorf("cell: got status %s, want ok: %s", status, value)
			}
		})
	}
}

// fullFolder returns a folder without free space, or a folder that does not exist.
func fullFolder(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "full")
	if runtime.GOOS == "linux" && os.Getuid() == 0 {
		must.M(os.Mkdir(dir, 0o700))
		if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", dir).Run() == nil {
			t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
		} else {
			t.Log("cannot mount a full folder")
		}
	}
	return dir
}

// If the kernel does not start, the notebook shows the reason.
func TestTellsWhyItDoesNotStart(t *testing.T) {
	needsKernel(t)
	empty := t.TempDir()
	must.M(os.Chmod(empty, 0o700))
	launcher := store(empty).dir(launcherItem())
	must.M(os.Mkdir(launcher, 0o700))
	must.M(os.Link(testprogram.Build(t), filepath.Join(launcher, "kernels")))
	broken := filepath.Join(t.TempDir(), "go")
	must.M(os.WriteFile(broken, []byte("#!/bin/sh\necho go: it is broken; exit 1\n"), 0o700))
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"no Go": {[]string{"PATH=/usr/bin:/bin", "HYPERMODELS_HOME=" + empty}, "no go in PATH"},
		"Go fails": {[]string{"PATH=" + filepath.Dir(broken) + ":/usr/bin:/bin", "HYPERMODELS_HOME=" + empty},
			"go: it is broken"},
		"not installed": {[]string{"HYPERMODELS_HOME=" + empty}, "`go run ./kernels setup`"},
		"under lab": {[]string{"HYPERMODELS_HOME=/dev/null", launcherVar + "=" + filepath.Join(launcher, "kernels")},
			"is not a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := start(t, c.env...)
			for range 2 {
				if status, value := k.cell(t); status != "error" || !strings.Contains(value, c.want) {
					t.Errorf("cell: got status %s, want an error with the reason: %s", status, value)
				}
				if said := k.outputs(); !strings.Contains(said, c.want) {
					t.Errorf("the cell shows %q, want the reason", said)
				}
			}
			if r := k.ask(t, "shutdown_request", struct{}{}); r.Status != "ok" {
				t.Errorf("shutdown: got %+v, want ok", r)
			}
		})
	}
}

// The kernel itself shows the reason, too.
func TestTellsWhyTheLayerDoesNotStart(t *testing.T) {
	needsKernel(t)
	k := startBy(t, nil, "sh", "-c", testprogram.Build(t)+` layer --dir /dev/null/folder --connection "$0" -- gonb`)
	if status, value := k.cell(t); status != "error" || !strings.Contains(value, "/dev/null") {
		t.Errorf("cell: got status %s, want an error about /dev/null: %s", status, value)
	}
}

// longFolder returns a folder whose path is too long for a socket.
func longFolder(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	must.M(os.Mkdir(dir, 0o700))
	return dir
}
