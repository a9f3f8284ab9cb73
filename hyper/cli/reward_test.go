package cli

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// The rewards of a file reach a server in requests that it accepts, even if it bounds their bytes. Rewards of decisions
// that it has not made are refused, with exit status 1. Sending the same rewards again changes nothing.
func TestReward(t *testing.T) {
	const decisions = 250
	token := written(t, "token", "secret\n")
	file := written(t, "agent.json", `{"arms": ["a", "b"]}`)
	s := startService(t, filepath.Join(t.TempDir(), "data"), file, "--token-file", token, "--max-bytes", "3000", "--sync",
		"none")
	table, lines := "reward,id,weight\n", ""
	for i := range decisions {
		_, d := s.post("/v1/decide", "secret", "{}")
		table += fmt.Sprintf("%d,%v,\n", i%2, d["id"])
		lines += fmt.Sprintf(`{"id": "%v", "reward": %d}`+"\n\n", d["id"], i%2)
	}
	send := func(file string) (status int, stdout, stderr string) {
		return call(t, "reward", file, "--to", s.url, "--token-file", token)
	}
	status, out, stderr := send(written(t, "part.csv", "\ufeff"+table+"1,nobody,2\n"))
	if status != exitFailed || !strings.Contains(stderr, `refused: decision "nobody": no such decision`) ||
		!strings.Contains(out, "250 of 251 rewards were taken, now or before; 1 were refused") {
		t.Errorf("exit status %d, want 1 and 1 refused reward of 251: %s %s", status, out, stderr)
	}
	status, out, stderr = send(written(t, "again.jsonl", lines))
	if status != 0 || !strings.Contains(out, "250 of 250 rewards") || stderr != "" {
		t.Errorf("sent again: exit status %d, want 0 and no error: %s %s", status, out, stderr)
	}
	if h := s.health(); h.Data != decisions {
		t.Errorf("the agent has learned from %d rewards, want %d", h.Data, decisions)
	}
	status, out, stderr = send(written(t, "others.csv", "id,reward\n"+strings.Repeat("9-00000000,1\n", 30)))
	if status != exitFailed || strings.Count(stderr, "9-00000000: ") != 20 ||
		!strings.Contains(stderr, "refused: 10 others") {
		t.Errorf("30 unknown decisions: exit status %d, want 1 and 20 lines: %s %s", status, out, stderr)
	}
	if status, _, stderr := call(t, "reward", written(t, "a.csv", table), "--to", s.url); status != exitFailed ||
		!strings.Contains(stderr, "0 of 250 rewards were sent: the token is missing or wrong") {
		t.Errorf("without a token: exit status %d, want 1 and advice: %s", status, stderr)
	}
	s.stop(syscall.SIGTERM)
	if status, _, stderr := send(written(t, "b.csv", table)); status != exitFailed ||
		!strings.Contains(stderr, "refused; correct") {
		t.Errorf("without a server: exit status %d, want 1 and advice: %s", status, stderr)
	}
}

// The command checks the certificate of a server against its authority, and sends its own. If the server refuses a
// request for its rate, the command sends it again.
func TestRewardByTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("TestReward is quicker")
	}
	var requests, most atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q api.RewardRequest
		must.M(json.NewDecoder(r.Body).Decode(&q))
		if most.Store(max(most.Load(), int64(len(q.List)))); requests.Add(1) == 2 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		must.M(json.NewEncoder(w).Encode(api.RewardReply{Taken: len(q.List)}))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	block := func(name, kind string, der []byte) string {
		return written(t, name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	certificate := block("server.pem", "CERTIFICATE", s.Certificate().Raw)
	key := block("server.key", "PRIVATE KEY", must.M1(x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)))
	file := written(t, "rewards.csv", "id,reward\n"+strings.Repeat("0-00000000,1\n", 40_000))
	flags := []string{"reward", file, "--to", s.URL}
	if status, _, stderr := call(t, flags...); status != exitFailed || !strings.Contains(stderr, "certificate") {
		t.Errorf("unknown certificate authority: exit status %d, want 1 and an error about the certificate: %s",
			status, stderr)
	}
	flags = append(flags, "--tls-ca", certificate)
	if status, _, stderr := call(t, flags...); status != exitFailed || requests.Load() != 0 {
		t.Errorf("without a certificate: exit status %d, want 1 and no request: %s", status, stderr)
	}
	flags = append(flags, "--tls-cert", certificate, "--tls-key", key)
	prints(t, flags, "40000 of 40000 rewards")
	if most.Load() != 10_000 {
		t.Errorf("a request has up to %d rewards, want 10,000", most.Load())
	}
}

// A wrong file is refused before a request is sent, and the error names the line. Wrong flags are refused too.
func TestRewardRefuses(t *testing.T) {
	good := written(t, "good.csv", "id,reward\n0-00000000,1\n")
	for want, args := range map[string][]string{
		"a.csv: line 3: reward must be a number, got":     {written(t, "a.csv", "id,reward\n0-1,1\n0-2,one\n")},
		"b.csv: line 4: id is missing":                    {written(t, "b.csv", "id,reward\n\"0\n1\",1\n,2\n")},
		"c.csv: line 2: wrong number of fields":           {written(t, "c.csv", "id,reward\n0-1\n")},
		"d.csv: line 1: the header must have the columns": {written(t, "d.csv", "id,rewards\n0-1,2\n")},
		"e.csv: line 1: the file is empty":                {written(t, "e.csv", "")},
		"f.csv: line 2: weight must be positive":          {written(t, "f.csv", "id,reward,weight\n0-1,2,0\n")},
		"g.csv: line 2: reward must be between":           {written(t, "g.csv", "id,reward\n0-1,NaN\n")},
		"j.csv: line 2: reward must be between":           {written(t, "j.csv", "id,reward\n0-1,1e40\n")},
		"h.csv: line 2: reward is missing":                {written(t, "h.csv", "id,reward\n0-1,\n")},
		"i.csv has no rewards":                            {written(t, "i.csv", "id,reward\n")},
		"a.jsonl: line 3: reward must be a number, got a": {written(t, "a.jsonl", "\n\n"+`{"id": "a", "reward": "1"}`)},
		`b.jsonl: line 1: unknown field "rewrd"`:          {written(t, "b.jsonl", `{"id": "a", "rewrd": 1}`)},
		"c.jsonl: line 1: the line has more than":         {written(t, "c.jsonl", strings.Repeat(" ", 100_000))},
		"d.jsonl: line 1: weight must be positive":        {written(t, "d.jsonl", `{"id": "a", "reward": 1, "weight": 0}`)},
		"want a file name that ends in .csv or .jsonl":    {written(t, "a.txt", "")},
		"no such file":                         {"nowhere.csv"},
		"takes one argument, FILE":             {},
		"--to must be the address of a server": {good, "--to", "127.0.0.1:8080"},
		"one word, the token":                  {good, "--token-file", written(t, "token", "\n")},
		"TLS needs a certificate and its key":  {good, "--tls-key", good},
		"good.csv has no certificate":          {good, "--tls-ca", good},
	} {
		refused(t, append([]string{"reward"}, args...), want)
	}
}
