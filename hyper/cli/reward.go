package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// rewarding sends rewards to a server.
type rewarding struct {
	to, tokenFile string
	tls           struct{ cert, key, ca string }

	token  string
	client *http.Client
	taken  int
	refuse []api.DecisionError // the first refused rewards, which are printed
	others int                 // number of other refused rewards
}

func rewardCommand() *cobra.Command {
	r := &rewarding{}
	c := &cobra.Command{
		Use:   "reward FILE.csv|FILE.jsonl",
		Short: "Send the rewards of a file to a running hyper serve",
		Long: "Send the rewards of a file to a running hyper serve, in requests of at most 10,000 rewards. A file that ends in " +
			".csv has a header with the columns id and reward, and optionally weight, the number of times that a reward " +
			`counts. A file that ends in .jsonl has a line {"id": "0-f0db5cf3", "reward": 1} for each reward. The file is ` +
			"checked before anything is sent. It may be sent again: the first reward of a decision counts, and repeated ones " +
			"are ignored. Exit status 1 means that rewards were refused, or not sent; 2 means that the file is wrong.",
		Example: "  hyper reward rewards.csv --to https://agent:8080 --token-file token",
		Args:    argument("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.connect(); err != nil {
				return err
			}
			all, err := readRewards(args[0])
			if err != nil {
				return err
			}
			err = r.send(c.Context(), all)
			r.report(len(all))
			if c.Context().Err() != nil {
				return lab.ErrInterrupted
			}
			if err == nil && r.others+len(r.refuse) > 0 {
				err = fmt.Errorf("%d rewards were refused", r.others+len(r.refuse))
			}
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&r.to, "to", "http://127.0.0.1:8080", "address of the server")
	f.StringVar(&r.tokenFile, "token-file", "", "file with the token of the server")
	f.StringVar(&r.tls.cert, "tls-cert", "", "certificate to show to a server with --tls-client-ca, PEM")
	f.StringVar(&r.tls.key, "tls-key", "", "key of --tls-cert, PEM")
	f.StringVar(&r.tls.ca, "tls-ca", "", "authority of the server's certificate, PEM; default: the authorities of the system")
	return c
}

// connect makes the client from the flags.
func (r *rewarding) connect() (err error) {
	to, err := url.Parse(r.to)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return fmt.Errorf("--to must be the address of a server, such as http://127.0.0.1:8080, got %q", r.to)
	}
	r.to = strings.TrimSuffix(r.to, "/")
	if r.token, err = readToken(r.tokenFile); err != nil {
		return err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if r.tls.cert != "" || r.tls.key != "" {
		pair, err := tls.LoadX509KeyPair(r.tls.cert, r.tls.key)
		if err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if r.tls.ca != "" {
		text, err := os.ReadFile(r.tls.ca)
		if err != nil {
			return err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("--tls-ca: %s has no certificate", r.tls.ca)
		}
	}
	r.client = &http.Client{Timeout: 2 * time.Minute,
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: c}}
	return nil
}

// These are the bounds of requests.
const (
	firstRewards = 100    // number of rewards in the first request
	mostRewards  = 10_000 // largest number of rewards that the server accepts in a request
	mostWaits    = 60     // number of times that a request is repeated, once a second, after status 429
)

// send sends rewards in requests. It sends larger requests while they take little time, because a server has one minute
// to answer.
func (r *rewarding) send(ctx context.Context, all []reward) error {
	size, most, waits := firstRewards, mostRewards, 0
	for at := 0; at < len(all); {
		some := all[at:min(at+size, len(all))]
		begun := time.Now()
		status, err := r.post(ctx, some)
		switch {
		case status == http.StatusTooManyRequests && waits < mostWaits: // --rate of the server
			waits++
			pause(ctx, time.Second)
			continue
		case status == http.StatusRequestEntityTooLarge && len(some) > 1: // --max-bytes of the server
			size = len(some) / 2
			most = size
			continue
		case err != nil:
			return fmt.Errorf("%d of %d rewards were sent: %w; correct this, and run the command again: no reward is "+
				"counted twice", at, len(all), err)
		}
		at, waits = at+len(some), 0
		if took := time.Since(begun); took < 2*time.Second {
			size = min(2*size, most)
		} else if took > 10*time.Second {
			size = max(size/2, 1)
		}
	}
	return nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// mostShown is the largest number of refused rewards that are printed.
const mostShown = 20

// mostAnswer is the largest number of bytes that are read of an answer.
const mostAnswer = 16 << 20

// post sends one request with some rewards, and counts the rewards that were taken.
func (r *rewarding) post(ctx context.Context, some []reward) (status int, err error) {
	text, err := json.Marshal(map[string][]reward{"rewards": some})
	if err != nil {
		return 0, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.to+"/v1/reward", bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/json")
	if r.token != "" {
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	w, err := r.client.Do(q)
	if err != nil {
		return 0, err
	}
	defer w.Body.Close()
	text, err = io.ReadAll(io.LimitReader(w.Body, mostAnswer))
	switch {
	case err != nil:
		return w.StatusCode, err
	case w.StatusCode == http.StatusOK:
		return w.StatusCode, r.count(text, len(some))
	case w.StatusCode == http.StatusUnauthorized:
		return w.StatusCode, errors.New("the token is missing or wrong: give the token of the server with --token-file")
	}
	var f api.ErrorReply
	if json.Unmarshal(text, &f) != nil || f.Error == "" {
		f.Error = fmt.Sprintf("%.200s", bytes.TrimSpace(text))
	}
	return w.StatusCode, fmt.Errorf("%s/v1/reward answers %s: %s", r.to, w.Status, f.Error)
}

// count adds the answer to a request of n rewards to the counts.
func (r *rewarding) count(text []byte, n int) error {
	var a api.RewardReply
	if err := json.Unmarshal(text, &a); err != nil || a.Taken+len(a.Errors) != n {
		return fmt.Errorf("%s/v1/reward is not a hyper serve: it answers %.200q to %d rewards", r.to, text, n)
	}
	r.taken += a.Taken
	shown := min(len(a.Errors), mostShown-len(r.refuse))
	r.refuse = append(r.refuse, a.Errors[:shown]...)
	r.others += len(a.Errors) - shown
	return nil
}

// report prints the number of rewards that were taken, and the refused rewards.
func (r *rewarding) report(all int) {
	for _, one := range r.refuse {
		if strings.Contains(one.Error, one.ID) {
			one.ID = "refused"
		}
		fmt.Fprintf(os.Stderr, "%.80s: %.300s\n", one.ID, one.Error)
	}
	if r.others > 0 {
		fmt.Fprintf(os.Stderr, "refused: %d others\n", r.others)
	}
	fmt.Printf("%d of %d rewards were taken, now or before; %d were refused\n", r.taken, all, len(r.refuse)+r.others)
}
