package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A page of any site makes the browser that shows it send requests, also to a server that listens on loopback alone.
// Two checks keep such pages out. No page of another site may have made the request. And the Host of the request must
// name this server: a site whose name leads to this machine (DNS rebinding) would pass for the server itself.

// own passes on requests that name this server, and that no page of another site has made.
func (s *Server) own(next http.Handler) http.Handler {
	names := map[string]bool{"localhost": true}
	for _, h := range s.options.Hosts {
		names[hostName(h)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := nameIn(r.Host)
		switch {
		case !names[name] && !isAddress(r, name):
			fail(w, http.StatusMisdirectedRequest, fmt.Errorf("the Host of the request, %.80q, is no name of this server; "+
				"if it is one, start hyper serve with --host %.80s", r.Host, name))
		case crossSite(r):
			fail(w, http.StatusForbidden, errors.New("a page of another site has made the request, as its Sec-Fetch-Site "+
				"or Origin says: ask from a program, or from a page of this server"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// nameIn is the name or address of a Host, without its port.
func nameIn(host string) string { return hostName((&url.URL{Host: host}).Hostname()) }

// hostName is a name as names are compared: in lower case, without the dot of the root. An address is as netip has it.
func hostName(name string) string {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// isAddress reports whether a name is an address of loopback, or the one that the request came to, by which the probes of
// a cluster ask. No name at all is one too: HTTP/1.0 needs none, and browsers always send one.
func isAddress(r *http.Request, name string) bool {
	if name == "" {
		return true
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return a.IsLoopback() || ok && a == at.AddrPort().Addr().Unmap().WithZone("")
}

// crossSite reports whether a page of another site has made a request. net/http lets such a page GET; here it may only
// link to the page that the server shows, as other answers are large, or take long.
func crossSite(r *http.Request) bool {
	if r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return false
	}
	as := *r
	as.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(&as) != nil
}

// checkHost reports what can be no Host without its port.
func checkHost(host string) error {
	u, err := url.Parse("http://" + host)
	isName := err == nil && host != "" && u.Host == host && u.Hostname() == host && !strings.Contains(host, "*")
	if _, err := netip.ParseAddr(host); err == nil || isName {
		return nil
	}
	return fmt.Errorf("Hosts must be names or addresses without a port, as agent.example, got %q", host)
}
