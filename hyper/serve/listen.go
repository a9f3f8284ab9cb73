package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
)

// TLS names the PEM files of a server that encrypts, and of the authority that signs its clients' certificates.
type TLS struct {
	Cert, Key string
	ClientCA  string // "" requests no certificate from clients
}

// Config returns the configuration of crypto/tls, or nil if there are no files. The error says which file is wrong.
func (t TLS) Config() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	pair, err := readPair(t.Cert, t.Key)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: pair}
	if t.ClientCA != "" {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		if c.ClientCAs, err = readAuthority(t.ClientCA); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// NewClient returns a client of servers that encrypt. The client shows the certificate in the PEM files cert and key to
// servers, and trusts servers whose certificates the authority in the PEM file ca has signed. Without cert and key the
// client shows no certificate. Without ca the client trusts the authorities of the system.
func NewClient(cert, key, ca string) (*http.Client, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	var err error
	if cert != "" || key != "" {
		if c.Certificates, err = readPair(cert, key); err != nil {
			return nil, err
		}
	}
	if ca != "" {
		if c.RootCAs, err = readAuthority(ca); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: c}}, nil
}

// readPair reads a certificate and its key from PEM files.
func readPair(cert, key string) ([]tls.Certificate, error) {
	if cert == "" || key == "" {
		return nil, errors.New("TLS needs a certificate and its key")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s and its key %s: %w", cert, key, err)
	}
	return []tls.Certificate{pair}, nil
}

// readAuthority reads the certificates of an authority from a PEM file.
func readAuthority(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return pool, nil
}

// CheckAddress reports an address that other machines can reach, if neither a token nor certificates of clients protect
// it.
func CheckAddress(address, token string, t TLS) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the address must be HOST:PORT: %w", err)
	}
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || t.ClientCA != "" || token != "" {
		return nil
	}
	return fmt.Errorf("%s can be reached from other machines: give a token, or certificates of clients, "+
		"or listen on 127.0.0.1", address)
}
