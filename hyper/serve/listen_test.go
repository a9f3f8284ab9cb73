package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// certificate writes a certificate and its key, signed by a parent or by itself, and returns both.
func certificate(t *testing.T, dir, name string, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate,
	*ecdsa.PrivateKey) {
	t.Helper()
	key := must.M1(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: parent == nil,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if parent == nil {
		parent, by = c, key
	}
	der := must.M1(x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by))
	write := func(end, kind string, bytes []byte) {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		must.M(os.WriteFile(filepath.Join(dir, name+end), text, 0o600))
	}
	write(".pem", "CERTIFICATE", der)
	write(".key", "PRIVATE KEY", must.M1(x509.MarshalPKCS8PrivateKey(key)))
	return must.M1(x509.ParseCertificate(der)), key
}

// With an authority for clients, a client with its certificate is answered. A client with another certificate, or none,
// is not.
func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ca, caKey := certificate(t, dir, "ca", nil, nil)
	other, otherKey := certificate(t, dir, "other", nil, nil)
	certificate(t, dir, "server", ca, caKey)
	certificate(t, dir, "friend", ca, caKey)
	certificate(t, dir, "stranger", other, otherKey)

	files := TLS{Cert: at("server.pem"), Key: at("server.key"), ClientCA: at("ca.pem")}
	listener := must.M1(tls.Listen("tcp", "127.0.0.1:0", must.M1(files.Config())))
	server := &http.Server{Handler: serving(t, Options{Spec: pages}).server.Handler()}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()

	get := func(certificates ...tls.Certificate) error {
		roots := x509.NewCertPool()
		roots.AddCert(ca)
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates}}}
		r, err := c.Get("https://" + listener.Addr().String() + "/v1/health")
		if err == nil {
			r.Body.Close()
		}
		return err
	}
	pair := func(name string) tls.Certificate {
		return must.M1(tls.LoadX509KeyPair(at(name+".pem"), at(name+".key")))
	}
	if err := get(pair("friend")); err != nil {
		t.Error(err)
	}
	if get() == nil || get(pair("stranger")) == nil {
		t.Error("client without a certificate of the authority: got an answer")
	}
}

// The error names a wrong file, and an address that others can reach needs a guard.
func TestWrongTLS(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, "a", nil, nil)
	pair := TLS{Cert: filepath.Join(dir, "a.pem"), Key: filepath.Join(dir, "a.key")}
	for want, files := range map[string]TLS{
		"a certificate and its key": {Cert: pair.Cert},
		"no such file":              {Cert: pair.Cert, Key: filepath.Join(dir, "none")},
		"has no certificate":        {Cert: pair.Cert, Key: pair.Key, ClientCA: pair.Key},
	} {
		if _, err := files.Config(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", files, err, want)
		}
	}
	if c, err := (TLS{}).Config(); c != nil || err != nil {
		t.Error(c, err)
	}
	clients := TLS{ClientCA: pair.Cert}
	for _, x := range []struct {
		address, token string
		tls            TLS
		ok             bool
	}{
		{"127.0.0.1:80", "", TLS{}, true}, {"localhost:80", "", TLS{}, true}, {"[::1]:80", "", TLS{}, true},
		{":80", "", TLS{}, false}, {"0.0.0.0:80", "", pair, false}, {"example.org:80", "", TLS{}, false},
		{":80", "secret", TLS{}, true}, {":80", "", clients, true}, {"80", "secret", TLS{}, false},
	} {
		if err := CheckAddress(x.address, x.token, x.tls); (err == nil) != x.ok {
			t.Errorf("address %+v: got error %v", x, err)
		}
	}
}
