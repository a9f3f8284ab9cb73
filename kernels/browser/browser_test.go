// Package browser tests JupyterLab as a user does: with the README's command, and with a real browser that lab.py
// controls.
//
// $HYPERMODELS_BROWSER names a Chromium or Chrome; without it the test is skipped. $HYPERMODELS_NOTEBOOKS lists the
// notebooks to run, and $HYPERMODELS_SCREENSHOTS is a folder for pictures of every step.
package browser

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// find returns the path of the browser in the environment.
func find(t *testing.T) string {
	t.Helper()
	name := os.Getenv("HYPERMODELS_BROWSER")
	if name == "" {
		t.Skip("HYPERMODELS_BROWSER names no Chromium or Chrome (Debian: apt install chromium)")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("HYPERMODELS_BROWSER must name an installed Chromium or Chrome: %v", err)
	}
	return path
}

// first returns the first notebook of the checkout.
func first(t *testing.T) string {
	t.Helper()
	list, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(list) == 0 {
		t.Fatalf("the checkout has no notebook: %v", err)
	}
	return filepath.Base(list[0])
}

// certificate writes a certificate for 127.0.0.1 and its key, and returns the paths of both files.
func certificate(t *testing.T) string {
	t.Helper()
	key := must.M1(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := must.M1(x509.CreateCertificate(rand.Reader, about, about, key.Public(), key))
	paths := []string{filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")}
	for i, b := range []*pem.Block{{Type: "CERTIFICATE", Bytes: der},
		{Type: "PRIVATE KEY", Bytes: must.M1(x509.MarshalPKCS8PrivateKey(key))}} {
		must.M(os.WriteFile(paths[i], pem.EncodeToMemory(b), 0o600))
	}
	return strings.Join(paths, " ")
}

func TestLab(t *testing.T) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("processes and sockets are looked for in /proc")
	}
	args := []string{"python", "--browser", "--", "lab.py", find(t)}
	args = append(args, strings.Fields(cmp.Or(os.Getenv("HYPERMODELS_NOTEBOOKS"), first(t)))...)
	program := testprogram.Build(t)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HYPERMODELS_CERTIFICATE="+certificate(t))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
