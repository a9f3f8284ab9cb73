package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/must"
	"sigs.k8s.io/yaml"

	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// service1 is a running `hyper serve`.
type service1 struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
	log *bufio.Scanner
}

var atAddress = regexp.MustCompile(`msg=serving address=(\S+)`)

// startService starts a server with a folder, a file unless that is "", and more flags, at a free port.
func startService(t *testing.T, dir, file string, flags ...string) *service1 {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--dir", dir}, flags...)
	if file != "" {
		args = append(args, file)
	}
	s := &service1{t: t, cmd: command(t, args...)}
	pipe := must.M1(s.cmd.StderrPipe())
	must.M(s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	s.log = bufio.NewScanner(pipe)
	s.url = "http://" + s.said(atAddress.String())
	return s
}

// said waits for a line of the log that matches, and returns the first group.
func (s *service1) said(pattern string) string {
	s.t.Helper()
	re, seen := regexp.MustCompile(pattern), []string{}
	for s.log.Scan() {
		if m := re.FindStringSubmatch(s.log.Text()); m != nil {
			return m[len(m)-1]
		}
		seen = append(seen, s.log.Text())
	}
	s.t.Fatalf("the log has no line like %q: %s", pattern, strings.Join(seen, "\n"))
	return ""
}

func (s *service1) post(path, token, text string) (status int, out map[string]any) {
	s.t.Helper()
	r := must.M1(http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(text)))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := must.M1(http.DefaultClient.Do(r))
	defer w.Body.Close()
	must.M(json.NewDecoder(w.Body).Decode(&out))
	return w.StatusCode, out
}

// health returns what the server says about itself.
func (s *service1) health() (h api.Health) {
	s.t.Helper()
	w := must.M1((&http.Client{Timeout: 10 * time.Second}).Get(s.url + "/v1/health"))
	defer w.Body.Close()
	must.M(json.NewDecoder(w.Body).Decode(&h))
	return h
}

// stop ends the server by a signal, and waits for its exit status.
func (s *service1) stop(with os.Signal) int {
	s.t.Helper()
	must.M(s.cmd.Process.Signal(with))
	for s.log.Scan() {
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// The command serves an agent, reads its file again at SIGHUP, saves it at SIGTERM, and continues with it after a
// restart: a decision from before takes its reward afterwards.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	file, token, data := filepath.Join(dir, "agent.json"), filepath.Join(dir, "token"), filepath.Join(dir, "data")
	spec := func(more string) {
		must.M(os.WriteFile(file, []byte(`{"arms": ["a", "b"], "context": {"names": ["x"]}, "set": {"waves": 10}`+more+`}`),
			0o600))
	}
	spec("")
	must.M(os.WriteFile(token, []byte("secret\n"), 0o600))
	s := startService(t, data, file, "--token-file", token, "--host", "agent.example")
	for host, want := range map[string]int{"agent.example": http.StatusOK, "other.example": http.StatusMisdirectedRequest} {
		r := must.M1(http.NewRequest(http.MethodGet, s.url+"/v1/health", nil))
		r.Host = host
		w := must.M1(http.DefaultClient.Do(r))
		w.Body.Close()
		if w.StatusCode != want {
			t.Errorf("request by the name %s: got status %d", host, w.StatusCode)
		}
	}
	if status, out := s.post("/v1/decide", "wrong", `{}`); status != http.StatusUnauthorized {
		t.Errorf("wrong token: status %d, want 401: %v", status, out)
	}
	_, d := s.post("/v1/decide", "secret", `{"context": {"x": 1}}`)
	_, last := s.post("/v1/decide", "secret", `{"context": {"x": 2}}`)
	reward := `{"id": "%v", "reward": 1}`
	if status, out := s.post("/v1/reward", "secret", fmt.Sprintf(reward, d["id"])); status != http.StatusOK {
		t.Errorf("reward: status %d, want 200: %v", status, out)
	}
	spec(`, "pending": 10`)
	must.M(s.cmd.Process.Signal(syscall.SIGHUP))
	s.said("read again")
	spec(`, "cross": 9`)
	must.M(s.cmd.Process.Signal(syscall.SIGHUP))
	s.said("continues unchanged.*cross")
	spec(`, "seed": 9`) // another agent, which learns from the log
	must.M(s.cmd.Process.Signal(syscall.SIGHUP))
	s.said("read again")
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	s = startService(t, data, file, "--token-file", token)
	if status, out := s.post("/v1/reward", "secret", fmt.Sprintf(reward, last["id"])); status != http.StatusOK {
		t.Errorf("reward after a restart: status %d, want 200: %v", status, out)
	}
	if h := s.health(); h.Data != 2 || h.Status != "ok" {
		t.Errorf("health: got %+v, want 2 data and ok", h)
	}
}

// The log of a server teaches another agent, and estimates how well it would have done. Rewards are 1 only for arm b:
// an agent that has learned from them does better than the log, and an agent that takes all arms equally does not.
func TestReplayAndEvaluate(t *testing.T) {
	dir := t.TempDir()
	data, to := filepath.Join(dir, "data"), filepath.Join(dir, "other")
	file := written(t, "random.json",
		`{"arms": ["a", "b"], "context": {"names": ["x"]}, "set": {"waves": 10}, "floor": 1}`)
	better := written(t, "better.json", `{"arms": ["a", "b"], "context": {"names": ["x"]}, "set": {"waves": 5}}`)
	s := startService(t, data, file, "--sync", "none")
	for i := range 300 {
		_, d := s.post("/v1/decide", "", fmt.Sprintf(`{"context": {"x": %d}}`, i%5))
		if i%10 < 9 {
			s.post("/v1/reward", "", fmt.Sprintf(`{"id": "%v", "reward": %v}`, d["id"], d["action"]))
		}
	}
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	evaluate := func(more ...string) (e offline.Evaluation) {
		out := must0(t, append([]string{"evaluate", data, "--json"}, more...)...)
		must.M(json.Unmarshal([]byte(out), &e))
		return e
	}
	e := evaluate("--agent", better)
	if e.Decisions != 300 || e.Rewarded != 270 || e.LearnedOf != 150 || e.Evaluated != 135 || len(e.Estimators) != 5 {
		t.Errorf("evaluation: got %+v, want 300 decisions, 270 rewards, 135 evaluated", e)
	}
	own := e.Estimators[0]
	for _, v := range e.Estimators[1:] {
		if v.Refused != "" || v.Value < 0.9 || v.Lower < own.Upper || v.Upper > 1.3 {
			t.Errorf("got estimate %+v, want a better one than the log's own %+v", v, own)
		}
	}
	for _, v := range evaluate().Estimators { // the folder's own agent takes arms at random
		if v.Refused != "" || v.Lower > 0.5 || v.Upper < 0.5 {
			t.Errorf("estimate: got %+v, want an interval around 0.5", v)
		}
	}
	must0(t, "evaluate", filepath.Join(data, "log"))
	if e := evaluate("--missing", "0", "--learn", "0.2"); e.Evaluated != 240 || e.Estimators[0].Value > 0.48 {
		t.Errorf("with missing rewards as 0: got %+v, want 240 evaluated and less than 0.48", e)
	}
	prints(t, []string{"evaluate", data, "--agent", better}, "doubly-robust")
	prints(t, []string{"replay", data, "--agent", better, "--to", to}, "learned from 270 rewards")
	s = startService(t, to, better)
	count := 0.0
	for range 20 {
		_, d := s.post("/v1/decide", "", `{"context": {"x": 1}}`)
		count += d["action"].(float64)
	}
	if count < 18 {
		t.Errorf("arm b was taken %v times of 20, want at least 18", count)
	}
	empty := filepath.Join(dir, "empty")
	startService(t, empty, better).stop(syscall.SIGTERM)
	for want, args := range map[string][]string{
		"there is no log in this folder: file does not exist: want the folder of a hyper serve": {"evaluate", dir},
		`arms must be arms of the log, a, b; got "z"`: {"evaluate", data, "--agent",
			written(t, "c.json", `{"arms": ["b", "z"], "context": {"names": ["x"]}}`)},
		"--learn must be between 0 and 1":       {"evaluate", data, "--learn", "0"},
		"--missing must be between -1e18":       {"evaluate", data, "--missing", "NaN"},
		"--to must name a folder that does not": {"replay", data, "--to", data},
		"takes one argument, LOG":               {"replay"},
		"d.json: context.buckets must be as in the folder, 0, got 3": {"replay", data, "--to", dir + "/x", "--agent",
			written(t, "d.json", `{"arms": ["a", "b"], "context": {"names": ["x"], "buckets": 3}}`)},
		"--level must be between 0 and 1":    {"evaluate", data, "--level", "2"},
		"empty has no rewards to learn from": {"replay", empty, "--to", dir + "/x"},
	} {
		refused(t, args, want)
	}
}

// A server that reads decides by the snapshots of the server that learns, and follows it.
func TestServeFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("TestServeLoad is quicker")
	}
	dir := t.TempDir()
	file := written(t, "agent.json", `{"arms": ["a", "b"], "context": {"names": ["x"]}, "set": {"waves": 10}}`)
	s := startService(t, filepath.Join(dir, "data"), file)
	r := startService(t, filepath.Join(dir, "reader"), "", "--from", s.url, "--ask-every", "100ms")
	for range 5 {
		_, d := s.post("/v1/decide", "", `{"context": {"x": 1}}`)
		s.post("/v1/reward", "", fmt.Sprintf(`{"id": "%v", "reward": 1}`, d["id"]))
	}
	for begun := time.Now(); r.health().Data != 5; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("the reader did not follow within 20 s: %+v", r.health())
		}
	}
	if status, d := r.post("/v1/decide", "", `{"context": {"x": 1}}`); status != http.StatusOK || d["id"] != "" {
		t.Errorf("decision of a reader: status %d, want 200 and no id: %v", status, d)
	}
	if status := s.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	r.said("continues with the last snapshot")
	if h := r.health(); h.Status != "not following" || h.Data != 5 {
		t.Errorf("health: got %+v, want \"not following\" and 5 data", h)
	}
	if status := r.stop(syscall.SIGTERM); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
}

// Wrong flags and files are refused, with the exit status of bad input.
func TestServeRefuses(t *testing.T) {
	good := written(t, "good.json", `{"arms": ["a", "b"]}`)
	for want, args := range map[string][]string{
		"takes one argument, FILE.json":       {},
		"no such file":                        {"nowhere.json"},
		"there is nothing to choose from":     {written(t, "1.json", `{}`)},
		`unknown field "arm"`:                 {written(t, "2.json", `{"arm": ["a"]}`)},
		"arms must have at least two names":   {written(t, "3.json", `{"arms": ["a"]}`)},
		`different names, got "a" at place 1`: {written(t, "4.json", `{"arms": ["a", "a"]}`)},
		`context: names must be different`:    {written(t, "12.json", `{"arms": ["a", "b"], "context": {"names": ["x", "x"]}}`)},
		`expire: want a time such as 72h`:     {written(t, "13.json", `{"arms": ["a", "b"], "expire": "3d"}`)},
		`(did you mean "bayesian-linear"?)`:   {written(t, "5.json", `{"arms": ["a", "b"], "learner": "bayesian-liner"}`)},
		`unknown key "wave"`:                  {written(t, "6.json", `{"action": {"buckets": 2}, "set": {"wave": 3}}`)},
		"replay must be growth":               {written(t, "7.json", `{"arms": ["a", "b"], "replay": "all"}`)},
		"something after the JSON value":      {written(t, "8.json", `{"arms": ["a", "b"]} {}`)},
		`key "set.a" is there twice`:          {written(t, "10.json", `{"arms": ["a", "b"], "set": {"a": 1, "a": 2}}`)},
		"arms[1] must be a string, got":       {written(t, "11.json", `{"arms": ["a", 2]}`)},
		`unknown unit " days"`:                {written(t, "9.json", `{"arms": ["a", "b"], "expire": "3 days"}`)},
		"can be reached from other machines":  {good, "--listen", "0.0.0.0:0"},
		"HOST:PORT":                           {good, "--listen", "8080"},
		"names or addresses without a port":   {good, "--host", "agent:8080"},
		"--save-every must not be negative":   {good, "--save-every", "-1s"},
		"TLS needs a certificate and its key": {good, "--tls-cert", "a.pem"},
		"--sync must be each, grouped":        {good, "--sync", "some"},
		"KeepLog must not be negative":        {good, "--keep-log", "-1h"},
		"one word, the token":                 {good, "--token-file", written(t, "empty", "\n")},
		"MostActions must be at least 1":      {good, "--max-actions", "-1"},
		"--from takes no FILE.json":           {good, "--from", "http://127.0.0.1:1"},
		"From must be the address":            {"--from", "agent:8080"},
		"--ask-every must be positive":        {"--from", "http://127.0.0.1:1", "--ask-every", "0s"},
	} {
		status, _, stderr := call(t, append([]string{"serve"}, args...)...)
		if status != exitBadInput || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") > 2 {
			t.Errorf("%q: %d %s, want %q", args, status, stderr, want)
		}
	}
}

// The manifest has a Spec that can be served, and flags that the command has.
func TestServeManifest(t *testing.T) {
	found, from, hosts := map[string]bool{}, "", []string(nil)
	for _, text := range bytes.Split(must.M1(os.ReadFile("../serve/kubernetes.yaml")), []byte("\n---\n")) {
		var o struct {
			Kind string
			Data map[string]string
			Spec struct {
				Replicas int
				Template struct {
					Spec struct {
						Containers []struct{ Command, Args []string }
					}
				}
			}
		}
		must.M(yaml.Unmarshal(text, &o))
		found[o.Kind] = true
		switch o.Kind {
		case "ConfigMap":
			file := filepath.Join(t.TempDir(), "agent.json")
			must.M(os.WriteFile(file, []byte(o.Data["agent.json"]), 0o600))
			must.M1(agentfile.Read(file))
		case "Deployment":
			c := o.Spec.Template.Spec.Containers[0]
			reads := slices.Contains(c.Args, "--from")
			if (o.Spec.Replicas == 1) == reads || strings.Join(c.Command[:2], " ") != "hyper serve" {
				t.Errorf("deployment: got %+v, want one replica that learns, and readers", o)
			}
			own := serveCommand()
			must.M(own.ParseFlags(c.Args))
			if reads {
				from = must.M1(own.Flags().GetString("from"))
			}
			hosts = append(hosts, must.M1(own.Flags().GetStringSlice("host"))...)
			must.M(own.Args(own, append(c.Command[2:], own.Flags().Args()...)))
		}
	}
	if len(found) != 4 {
		t.Errorf("the manifest has the parts %v, want 4", found)
	}
	if !slices.Contains(hosts, strings.TrimPrefix(from, "http://")) {
		t.Errorf("the readers use the address %s, but the learning server has the hosts %v", from, hosts)
	}
}
