package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/serve"
)

// service is what the flags of `hyper serve` say.
type service struct {
	options   serve.Options
	file      string // of the Spec; "" where the server reads from another
	address   string
	tokenFile string
	tls       serve.TLS
	saveEvery time.Duration
	askEvery  time.Duration
	sync      string
}

func serveCommand() *cobra.Command {
	v := service{}
	c := &cobra.Command{
		Use:   "serve FILE.json | --from URL",
		Short: "Serve an agent over HTTP: it decides, learns from rewards, and is saved",
		Long: "Serve an agent over HTTP and JSON. FILE.json says what there is to choose from, and which learner chooses; " +
			"hyper/serve/README.md has examples. /openapi.json is the API, / a page that shows what the agent does. " +
			"What it answers is in its log on the disk first, so that nothing is lost however it ends. SIGTERM ends it when " +
			"the requests under way are answered, and saves the agent; SIGHUP reads FILE.json anew, also with other arms or " +
			"features. " +
			"With --from it decides by the snapshots of another server, which learns, and learns nothing itself.",
		Args: func(c *cobra.Command, args []string) error {
			if v.options.From == "" {
				return argument("FILE.json")(c, args)
			}
			if len(args) > 0 {
				return errors.New("--from takes no FILE.json: the server that is read from has it")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				v.file = args[0]
			}
			return v.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&v.address, "listen", "127.0.0.1:8080", "HOST:PORT; other than loopback it needs a token or certificates")
	f.StringSliceVar(&v.options.Hosts, "host", nil, "name by which clients call the server, as in the Host that a proxy "+
		"passes on, without a port; may be repeated. Loopback, its own address and the name in --listen need none")
	f.StringVar(&v.options.Dir, "dir", "hyper-agent", "folder in which the agent is saved, with its log, and found again")
	f.StringVar(&v.sync, "sync", durable.Each.String(), "when the log is on the disk: "+
		"each answer waits for it, grouped (for up to 2 ms, with others), or none waits, and the last may be lost")
	f.DurationVar(&v.options.KeepLog, "keep-log", 0, "age at which what the agent has learned from leaves the log; "+
		"0 is never, for hyper evaluate")
	f.DurationVar(&v.saveEvery, "save-every", time.Minute, "how often the agent is saved; 0 is at the end alone")
	f.StringVar(&v.options.From, "from", "",
		"address of a server that learns, as http://agent:8080: decide by its snapshots; "+
			"--token-file has its token too, and --tls-cert and --tls-key are for it too")
	f.DurationVar(&v.askEvery, "ask-every", 10*time.Second,
		"how often the server of --from is asked whether it has learned")
	f.StringVar(&v.tokenFile, "token-file", "", "file with the token that clients must send")
	f.StringVar(&v.tls.Cert, "tls-cert", "", "certificate of the server, PEM")
	f.StringVar(&v.tls.Key, "tls-key", "", "its key, PEM")
	f.StringVar(&v.tls.ClientCA, "tls-client-ca", "", "authority whose certificates clients must have, PEM")
	f.Int64Var(&v.options.MostBytes, "max-bytes", 1<<20, "bytes of a request")
	f.IntVar(&v.options.MostActions, "max-actions", 1000, "actions of a decision")
	f.Float64Var(&v.options.Rate, "rate", 0, "requests a second of all clients; 0 is no bound")
	f.BoolVar(&v.options.Pprof, "pprof", false, "serve Go's profiles at /debug/pprof/")
	return c
}

// run serves until ctx is done.
func (v *service) run(ctx context.Context) error {
	if v.saveEvery < 0 {
		return fmt.Errorf("--save-every must not be negative, got %v", v.saveEvery)
	}
	if v.askEvery <= 0 {
		return fmt.Errorf("--ask-every must be positive, got %v", v.askEvery)
	}
	var err error
	if v.file != "" {
		if v.options.Spec, err = serve.ReadSpec(v.file); err != nil {
			return err
		}
	}
	if v.options.Token, err = readToken(v.tokenFile); err != nil {
		return err
	}
	if v.options.Sync, err = syncOf(v.sync); err != nil {
		return err
	}
	secure, err := v.tls.Config()
	if err != nil {
		return err
	}
	if err := serve.CheckAddress(v.address, v.options.Token, v.tls); err != nil {
		return err
	}
	if name, _, _ := net.SplitHostPort(v.address); name != "" && net.ParseIP(name) == nil {
		v.options.Hosts = append(v.options.Hosts, name)
	}
	v.options.Client = clientWith(secure)
	v.options.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := serve.New(v.options)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", v.address)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	} else if v.options.Token != "" {
		v.options.Log.Warn("the token is sent in the clear: give a certificate, or put a proxy that encrypts before it")
	}
	v.options.Log.Info("serving", "address", listener.Addr().String(), "tls", secure != nil, "dir", v.options.Dir)
	return v.serve(ctx, s, listener)
}

// serve answers requests until ctx is done, and then saves the agent.
func (v *service) serve(ctx context.Context, s *serve.Server, listener net.Listener) error {
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: slog.NewLogLogger(v.options.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(listener) }()
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	every, do, failing := v.saveEvery, s.Save, "the agent cannot be saved"
	if v.options.From != "" {
		every, failing = v.askEvery, "the server goes on with the last snapshot"
		do = func() error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return s.Refresh(ctx)
		}
	}
	var tick <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case err := <-failed:
			return failure{errors.Join(err, s.Close())}
		case <-tick:
			if err := do(); err != nil {
				v.options.Log.Error(failing, "error", err)
			}
		case <-reload:
			if err := v.reload(ctx, s); err != nil {
				v.options.Log.Error("the server goes on as it was", "file", v.file, "error", err)
			} else {
				v.options.Log.Info("read anew", "file", v.file)
			}
		case <-ctx.Done():
			return v.stop(h, s)
		}
	}
}

// clientWith shows the server's certificate to the server of --from, and trusts the authority of its clients.
func clientWith(server *tls.Config) *http.Client {
	if server == nil {
		return nil
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: server.Certificates,
			RootCAs: server.ClientCAs},
	}}
}

func (v *service) reload(ctx context.Context, s *serve.Server) error {
	if v.file == "" {
		return s.Refresh(ctx)
	}
	spec, err := serve.ReadSpec(v.file)
	if err != nil {
		return err
	}
	return s.Reload(ctx, spec)
}

// stop lets the requests under way end, and saves the agent.
func (v *service) stop(h *http.Server, s *serve.Server) error {
	wait, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(h.Shutdown(wait), s.Close())
	if err != nil {
		return failure{err}
	}
	v.options.Log.Info("saved, and stopped", "dir", v.options.Dir)
	return nil
}

// syncOf is the one of a name.
func syncOf(name string) (durable.Sync, error) {
	if s := lab.OfWord[durable.Sync](name); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("--sync must be each, grouped or none, got %q", name)
}

// readToken reads a token from a file; "" is none.
func readToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	token := string(bytes.TrimSpace(text))
	if err == nil && (token == "" || bytes.ContainsAny(bytes.TrimSpace(text), " \t\r\n")) {
		err = fmt.Errorf("%s must have one word, the token", file)
	}
	return token, err
}
