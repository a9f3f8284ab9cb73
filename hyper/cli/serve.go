package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/serve"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
)

// service holds the flags of hyper serve.
type service struct {
	options   serve.Options
	file      string // file of the Spec; "" if the server reads from another server
	address   string
	tokenFile string
	tls       serve.TLS
	ca        string // of the server of --from
	saveEvery time.Duration
	askEvery  time.Duration
	sync      string
}

func serveCommand() *cobra.Command {
	var v service
	c := &cobra.Command{
		Use:   "serve FILE.json | --from URL",
		Short: "Serve an agent over HTTP: the agent decides, learns from rewards, and is saved",
		Long: `Serve an agent over HTTP and JSON. FILE.json lists the options to choose from,
and names the learner; hyper/serve/README.md has examples. The server describes
its API at /openapi.json. The page at / shows what the agent does.

With --sync each (the default) or grouped, the server writes each decision and
reward to its log on the disk before it answers. Then a crash loses no answered
decision or reward. With --sync none, a loss of power loses the last seconds.

SIGTERM stops the server: the server answers the requests under way, and saves
the agent. After SIGHUP the server reads FILE.json again, which may then have
other arms or features.

With --from URL, the server decides by snapshots of the server at URL. Only the
server at URL learns.`,
		Args: func(c *cobra.Command, args []string) error {
			if v.options.From == "" {
				return argument("FILE.json")(c, args)
			}
			if len(args) > 0 {
				return errors.New("--from takes no FILE.json: the server at URL has it")
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
	f.StringVar(&v.address, "listen", "127.0.0.1:8080",
		"HOST:PORT; an address other than loopback needs a token or certificates")
	f.StringSliceVar(&v.options.Hosts, "host", nil, "name by which clients call the server, without a port, such as "+
		"the Host that a proxy passes on; repeatable. Loopback, the server's own address and the name in --listen "+
		"are always allowed")
	f.StringVar(&v.options.Dir, "dir", "hyper-agent", "folder of the agent and its log")
	f.StringVar(&v.sync, "sync", durable.Each.String(), "when the server answers. each: after the record is "+
		"on the disk. grouped: as each, but the server waits up to 2 ms to write several records at once. none: "+
		"immediately; a loss of power loses the records of the last seconds")
	f.DurationVar(&v.options.KeepLog, "keep-log", 0, "age at which saved records are dropped from the log; "+
		"0 keeps all, for hyper evaluate")
	f.DurationVar(&v.saveEvery, "save-every", time.Minute, "time between saves of the agent; 0 saves only at the end")
	f.StringVar(&v.options.From, "from", "",
		"address of a server that learns, such as http://agent:8080: decide by its snapshots. "+
			"--token-file, --tls-cert and --tls-key also apply to requests to that server")
	f.StringVar(&v.ca, "tls-ca", "",
		"authority of the certificate of the server of --from, PEM (default: the authorities of the system)")
	f.DurationVar(&v.askEvery, "ask-every", 10*time.Second,
		"time between requests to the server of --from for a new snapshot")
	f.StringVar(&v.tokenFile, "token-file", "", "file with the token that clients must send")
	f.StringVar(&v.tls.Cert, "tls-cert", "", "certificate of the server, PEM")
	f.StringVar(&v.tls.Key, "tls-key", "", "key of --tls-cert, PEM")
	f.StringVar(&v.tls.ClientCA, "tls-client-ca", "",
		"authority that must have signed the certificates of clients, PEM")
	f.Int64Var(&v.options.MostBytes, "max-bytes", 1<<20, "largest size of a request in bytes")
	f.IntVar(&v.options.MostActions, "max-actions", 1000, "largest number of actions of a decision")
	f.Float64Var(&v.options.Rate, "rate", 0,
		"largest number of requests per second of all clients with the token together, except /metrics; 0 means no bound")
	f.BoolVar(&v.options.Pprof, "pprof", false, "serve Go's profiles at /debug/pprof/")
	return c
}

// run serves until ctx ends.
func (v *service) run(ctx context.Context) error {
	if v.saveEvery < 0 {
		return fmt.Errorf("--save-every must not be negative, got %v", v.saveEvery)
	}
	if v.askEvery <= 0 {
		return fmt.Errorf("--ask-every must be positive, got %v", v.askEvery)
	}
	var err error
	if v.file != "" {
		if v.options.Spec, err = agentfile.Read(v.file); err != nil {
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
	switch {
	case v.options.From == "" && v.ca != "":
		return errors.New("--tls-ca needs --from")
	case v.options.From != "":
		if v.options.Client, err = serve.NewClient(v.tls.Cert, v.tls.Key, v.ca); err != nil {
			return err
		}
	}
	v.options.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := serve.New(ctx, v.options)
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
		v.options.Log.Warn("clients send the token unencrypted: give a certificate, or put a proxy that encrypts in " +
			"front of the server")
	}
	v.options.Log.Info("serving", "address", listener.Addr().String(), "tls", secure != nil, "dir", v.options.Dir)
	return v.serve(ctx, s, listener)
}

// serve answers requests until ctx ends, and then saves the agent.
func (v *service) serve(ctx context.Context, s *serve.Server, listener net.Listener) error {
	h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: slog.NewLogLogger(v.options.Log.Handler(), slog.LevelWarn)}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(listener) }()
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	every, repeat, failing := v.saveEvery, s.Save, "the agent cannot be saved"
	if v.options.From != "" {
		every, failing = v.askEvery, "the server continues with the last snapshot"
		repeat = func() error { return s.Refresh(ctx) }
	}
	var tick <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case err := <-ended:
			return failure{errors.Join(err, s.Close())}
		case <-tick:
			if err := repeat(); err != nil {
				v.options.Log.Error(failing, "error", err)
			}
		case <-reload:
			if err := v.reload(ctx, s); err != nil {
				v.options.Log.Error("the server continues unchanged", "file", v.file, "error", err)
			} else {
				v.options.Log.Info("read again", "file", v.file)
			}
		case <-ctx.Done():
			return v.stop(h, s)
		}
	}
}

// reload reads the Spec again, or the snapshot of the server of --from.
func (v *service) reload(ctx context.Context, s *serve.Server) error {
	if v.file == "" {
		return s.Refresh(ctx)
	}
	spec, err := agentfile.Read(v.file)
	if err != nil {
		return err
	}
	return s.Reload(ctx, spec)
}

// stop waits for the requests under way, and saves the agent.
func (v *service) stop(h *http.Server, s *serve.Server) error {
	wait, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(h.Shutdown(wait), s.Close()); err != nil {
		return failure{err}
	}
	v.options.Log.Info("saved, and stopped", "dir", v.options.Dir)
	return nil
}

// syncOf returns the value of --sync with this name.
func syncOf(name string) (durable.Sync, error) {
	if s := enum.Of[durable.Sync](name); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("--sync must be each, grouped or none, got %q", name)
}

// readToken reads a token from a file. Without a file it returns "".
func readToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(text))
	if len(words) != 1 {
		return "", fmt.Errorf("%s must have one word, the token", file)
	}
	return words[0], nil
}
