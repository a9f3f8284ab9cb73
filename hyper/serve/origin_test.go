package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Requests that a page of another site can make are refused, whatever they ask, and change nothing. Requests of
// programs, and of the server's own page, are answered.
func TestServerRefusesOtherSites(t *testing.T) {
	c := serving(t, Options{Spec: pages, Hosts: []string{"Agent.Example", "192.0.2.7", "2001:db8::1"}})
	waiting := c.decide(`{"context": {}}`)["id"]
	own := strings.TrimPrefix(c.url, "http://")
	_, port := must.M2(net.SplitHostPort(own))
	const (
		noName = "is not a name of this server; if it is one, start hyper serve with --host "
		cross  = "a page of another site has made the request"
		noType = "the body must have the header Content-Type: application/json, as curl --json sends it, got "
		some   = `{"context": {}}`
	)
	type headers map[string]string
	for _, x := range []struct {
		request string // method and path
		host    string // "" is the server's own
		header  headers
		body    string
		status  int
		want    string // of the error
	}{
		{"POST /v1/decide", "", headers{"Content-Type": "application/json"}, some, 200, ""},
		{"POST /v1/decide", "", headers{"Content-Type": "application/json; charset=utf-8"}, some, 200, ""},
		{"POST /v1/snapshot", "", nil, "", 200, ""},

		// Host
		{"POST /v1/decide", "evil.example", headers{"Content-Type": "application/json"}, some, 421, noName + "evil.example"},
		{"POST /v1/decide", "evil.example", headers{"Content-Type": "text/plain", "Origin": "http://evil.example"}, some, 421,
			noName + "evil.example"},
		{"GET /v1/snapshot", "evil.example:" + port, nil, "", 421, noName + "evil.example"},
		{"GET /v1/diagnostics", "evil.example:" + port, nil, "", 421, noName + "evil.example"},
		{"GET /v1/spec", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /v1/health", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /metrics", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /openapi.json", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /nowhere", "evil.example", nil, "", 421, noName + "evil.example"},
		{"GET /v1/health", "localhost.evil.example", nil, "", 421, noName + "localhost.evil.example"},
		{"GET /v1/health", "127.0.0.1.evil.example", nil, "", 421, noName + "127.0.0.1.evil.example"},
		{"GET /v1/health", "agent.example.evil.example", nil, "", 421, noName},
		{"GET /v1/health", "sub.agent.example", nil, "", 421, noName + "sub.agent.example"},
		{"GET /v1/health", "0.0.0.0:" + port, nil, "", 421, noName + "0.0.0.0"},
		{"GET /v1/health", "192.0.2.8", nil, "", 421, noName + "192.0.2.8"},
		{"GET /v1/health", "[2001:db8::2]:80", nil, "", 421, noName + "2001:db8::2"},
		{"GET /v1/health", "localhost", nil, "", 200, ""},
		{"GET /v1/health", "LocalHost.:1234", nil, "", 200, ""},
		{"GET /v1/health", "127.0.0.2", nil, "", 200, ""},
		{"GET /v1/health", "[::1]", nil, "", 200, ""},
		{"GET /v1/health", "[::1]:8080", nil, "", 200, ""},
		{"GET /v1/health", "[0:0:0:0:0:0:0:1]:8080", nil, "", 200, ""},
		{"GET /v1/health", "agent.example", nil, "", 200, ""},
		{"GET /v1/health", "AGENT.example.:443", nil, "", 200, ""},
		{"GET /v1/health", "192.0.2.7:80", nil, "", 200, ""},
		{"GET /metrics", "[2001:db8:0::1]:80", nil, "", 200, ""},

		// Origin
		{"POST /v1/decide", "", headers{"Content-Type": "application/json", "Origin": "http://evil.example"}, some, 403, cross},
		{"POST /v1/decide", "", headers{"Content-Type": "application/json", "Origin": "http://127.0.0.1:1"}, some, 403, cross},
		{"POST /v1/decide", "", headers{"Content-Type": "application/json", "Origin": "null"}, some, 403, cross},
		{"POST /v1/reward", "", headers{"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"},
			fmt.Sprintf(`{"id": %q, "reward": 1}`, waiting), 403, cross},
		{"POST /v1/snapshot", "", headers{"Sec-Fetch-Site": "same-site"}, "", 403, cross},
		{"GET /v1/snapshot", "", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "", 403, cross},
		{"GET /v1/diagnostics", "", headers{"Origin": "http://evil.example"}, "", 403, cross},
		{"GET /metrics", "", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "", 403, cross},
		{"GET /", "", headers{"Origin": "http://evil.example"}, "", 403, cross},
		{"GET /", "", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, "", 403, cross},
		{"OPTIONS /v1/decide", "", headers{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, "", 403,
			cross},
		{"GET /", "", headers{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "", 200, ""}, // a link
		{"GET /v1/health", "", headers{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, "", 200, ""},
		{"GET /v1/diagnostics", "", headers{"Sec-Fetch-Site": "none"}, "", 200, ""}, // typed by the user
		{"POST /v1/decide", "", headers{"Content-Type": "application/json", "Origin": c.url}, some, 200, ""},

		// type
		{"POST /v1/decide", "", headers{"Content-Type": "text/plain"}, some, 415, noType + `"text/plain"`},
		{"POST /v1/decide", "", headers{"Content-Type": "text/plain; application/json"}, some, 415, noType},
		{"POST /v1/decide", "", headers{"Content-Type": "application/x-www-form-urlencoded"}, some, 415, noType},
		{"POST /v1/reward", "", nil, `{"id": "0-00000000", "reward": 1}`, 415, noType + `""`},
		{"POST /v1/snapshot", "", headers{"Content-Type": "text/plain"}, "{}", 415, noType + `"text/plain"`},
	} {
		method, path, _ := strings.Cut(x.request, " ")
		r := must.M1(http.NewRequest(method, c.url+path, strings.NewReader(x.body)))
		r.Host = x.host
		for k, v := range x.header {
			r.Header.Set(k, v)
		}
		w := must.M1(http.DefaultClient.Do(r))
		text := must.M1(io.ReadAll(w.Body))
		w.Body.Close()
		var out api.ErrorReply
		_ = json.Unmarshal(text, &out) // of a page, or metrics, nothing
		if w.StatusCode != x.status || !strings.Contains(out.Error, x.want) || w.StatusCode != 200 && out.Error == "" {
			t.Errorf("%s, Host %q, %v %s: %d %s, want %d with %q",
				x.request, x.host, x.header, x.body, w.StatusCode, text,
				x.status, x.want)
		}
		if w.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s lets other sites read the answer", x.request)
		}
	}
	if got := c.server.now.Size(); got != 0 {
		t.Errorf("%d rewards were taken, want none", got)
	}
	if text := c.text("/metrics"); !strings.Contains(text, "hyper_decisions_total 4\n") { // as many as were answered with 200
		t.Error(text)
	}
	c.reward(waiting, 1)
}

// A request of HTTP/1.0 needs no Host; browsers always send one. A request with the address at which it arrived is
// answered.
func TestServerByAddress(t *testing.T) {
	c := serving(t, Options{Spec: pages})
	conn := must.M1(net.Dial("tcp", strings.TrimPrefix(c.url, "http://")))
	defer conn.Close()
	must.M1(io.WriteString(conn, "GET /v1/health HTTP/1.0\r\n\r\n"))
	if line := must.M1(bufio.NewReader(conn).ReadString('\n')); line != "HTTP/1.0 200 OK\r\n" {
		t.Error(line)
	}
	r := must.M1(http.NewRequest("GET", "/v1/health", nil))
	for address, want := range map[string]bool{"10.1.2.3": true, "10.1.2.4": false} {
		at := &net.TCPAddr{IP: net.ParseIP(address).To16(), Port: 80}
		r := r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, at))
		if got := isAddress(r, nameIn("10.1.2.3:8080")); got != want {
			t.Errorf("request by 10.1.2.3 at %s: got %v", address, got)
		}
	}
}

// A route includes the method: status 405 lists the allowed methods.
func TestServerAllow(t *testing.T) {
	c := serving(t, Options{Spec: pages, Pprof: true})
	for request, want := range map[string]string{"GET /v1/decide": "POST", "PUT /v1/snapshot": "GET, HEAD, POST",
		"POST /metrics": "GET, HEAD", "POST /": "GET, HEAD", "POST /debug/pprof/profile": "GET, HEAD"} {
		method, path, _ := strings.Cut(request, " ")
		w := must.M1(http.DefaultClient.Do(must.M1(http.NewRequest(method, c.url+path, nil))))
		w.Body.Close()
		if got := w.Header.Get("Allow"); w.StatusCode != http.StatusMethodNotAllowed || got != want {
			t.Errorf("%s: %d, Allow %q, want %q", request, w.StatusCode, got, want)
		}
	}
}

// Hosts have no scheme and no port.
func TestWrongHosts(t *testing.T) {
	for host, ok := range map[string]bool{"agent": true, "agent.example.": true, "10.0.0.1": true, "::1": true, "fe80::1": true,
		"": false, "http://agent": false, "agent:8080": false, "agent/": false, "[::1]:80": false, "a b": false, "*": false,
		"*.example": false} {
		if err := checkHost(host); (err == nil) != ok {
			t.Errorf("host %q: got error %v", host, err)
		}
	}
}
