package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
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
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("TLS needs a certificate and its key")
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}}
	if t.ClientCA == "" {
		return c, nil
	}
	text, err := os.ReadFile(t.ClientCA)
	if err != nil {
		return nil, err
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", t.ClientCA)
	}
	return c, nil
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
