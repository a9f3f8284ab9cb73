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

// A page of any site can make its browser send requests, even to a server that only listens on loopback. Two checks
// keep such pages out. First, the request must not come from a page of another site. Second, the Host of the request
// must name this server: otherwise a site whose name resolves to this machine (DNS rebinding) would look like the
// server itself.

// own passes on requests that name this server and do not come from a page of another site.
func (s *Server) own(next http.Handler) http.Handler {
	names := map[string]bool{"localhost": true}
	for _, h := range s.options.Hosts {
		names[hostName(h)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := nameIn(r.Host)
		switch {
		case !names[name] && !isAddress(r, name):
			fail(w, http.StatusMisdirectedRequest, fmt.Errorf("the Host of the request, %.80q, is not a name of this server; "+
				"if it is one, start hyper serve with --host %.80s", r.Host, name))
		case crossSite(r):
			fail(w, http.StatusForbidden, errors.New("a page of another site has made the request, as its Sec-Fetch-Site "+
				"or Origin says: ask from a program, or from a page of this server"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// nameIn returns the name or address in a Host, without the port.
func nameIn(host string) string { return hostName((&url.URL{Host: host}).Hostname()) }

// hostName returns a name in the form in which names are compared: in lower case, without the dot of the root. An
// address has the form of netip.
func hostName(name string) string {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// isAddress reports whether a name is a loopback address, or the address at which the request arrived, which the probes
// of a cluster use. An empty name counts too: HTTP/1.0 needs no Host, and browsers always send one.
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

// crossSite reports whether a page of another site has made a request. net/http allows GET requests of such pages. This
// server only allows links to its own page, because other answers are large or take long.
func crossSite(r *http.Request) bool {
	if r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return false
	}
	as := *r
	as.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(&as) != nil
}

// checkHost reports a text that cannot be a Host without a port.
func checkHost(host string) error {
	u, err := url.Parse("http://" + host)
	isName := err == nil && host != "" && u.Host == host && u.Hostname() == host && !strings.Contains(host, "*")
	if _, err := netip.ParseAddr(host); err == nil || isName {
		return nil
	}
	return fmt.Errorf("Hosts must be names or addresses without a port, such as agent.example, got %q", host)
}
