package serve

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// metrics holds the metrics of /metrics.
type metrics struct {
	registry    *prometheus.Registry
	seconds     *prometheus.HistogramVec
	decisions   prometheus.Counter
	probability prometheus.Histogram
	rewards     *prometheus.CounterVec
	reward      prometheus.Summary
	learning    prometheus.Histogram
}

func newMetrics(s *Server) *metrics {
	latencies := prometheus.ExponentialBuckets(50e-6, 2, 16) // 50 us to 1.6 s
	m := &metrics{
		registry: prometheus.NewRegistry(),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "hyper_request_seconds",
			Help: "Time of a request.", Buckets: latencies}, []string{"path", "status"}),
		decisions: prometheus.NewCounter(prometheus.CounterOpts{Name: "hyper_decisions_total",
			Help: "Number of decisions made."}),
		probability: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "hyper_decision_probability",
			Help: "Probability of the action taken.", Buckets: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}}),
		rewards: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hyper_rewards_total",
			Help: "Number of rewards, by result."}, []string{"result"}),
		reward: prometheus.NewSummary(prometheus.SummaryOpts{Name: "hyper_reward",
			Help: "Sum and number of the rewards taken. A reward that is sent again counts again; a default does not count."}),
		learning: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "hyper_learning_seconds",
			Help: "Time to take a reward.", Buckets: latencies}),
	}
	m.registry.MustRegister(m.seconds, m.decisions, m.probability, m.rewards, m.reward, m.learning,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(agentMetrics(s)...)
	m.registry.MustRegister(settlementMetrics(s)...)
	return m
}

// agentMetrics returns the metrics of the present agent.
func agentMetrics(s *Server) []prometheus.Collector {
	gauge := func(name, help string, f func(a served) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			a, done := s.agent()
			defer done()
			return f(a)
		})
	}
	calibration := func(name, help string, f func(*api.Calibration) float64) prometheus.Collector {
		return gauge(name, help, func(served) float64 {
			if c := s.calib.result(); c != nil {
				return f(c)
			}
			return math.NaN() // no rewards have been compared yet
		})
	}
	list := []prometheus.Collector{
		gauge("hyper_data", "Number of rewards that the agent has learned from.", func(a served) float64 { return float64(a.Size()) }),
		gauge("hyper_rounds", "Number of rounds of training.", func(a served) float64 { return float64(a.Rounds()) }),
		calibration("hyper_calibration_surprise", "How much less likely a reward was than the agent expects, in nats.",
			func(c *api.Calibration) float64 { return c.Surprise }),
		calibration("hyper_calibration_joint",
			"How much more likely two consecutive rewards were together than the agent expects, in nats.",
			func(c *api.Calibration) float64 { return c.Joint }),
		gauge("hyper_change_alarms", "Number of alarms of the test of change.", func(a served) float64 {
			return float64(a.Alarms().Count)
		}),
		gauge("hyper_learner_failing", "1 while training fails.", func(a served) float64 {
			return failing(a.LearnerError())
		}),
	}
	if s.options.From == "" {
		return append(list, gauge("hyper_log_records", "Number of records that the log has ever had.",
			func(served) float64 { return float64(s.log.Next()) }))
	}
	return append(list, gauge("hyper_follower_failing", "1 while the server that learns sends no snapshot.",
		func(served) float64 { return failing(s.source.last()) }))
}

// settlementMetrics returns the metrics of decisions that wait for their rewards.
func settlementMetrics(s *Server) []prometheus.Collector {
	settled := func(name, help string, labels prometheus.Labels, f func(agent.Settlements) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, func() float64 {
			a, done := s.agent()
			defer done()
			return float64(f(a.Settlements()))
		})
	}
	const waited = "Number of decisions settled after their wait: with the default, or with rewards that were kept."
	return []prometheus.Collector{
		settled("hyper_settled_total", waited, prometheus.Labels{"by": "default"},
			func(n agent.Settlements) uint64 { return n.Default }),
		settled("hyper_settled_total", waited, prometheus.Labels{"by": "rewards"},
			func(n agent.Settlements) uint64 { return n.Rewards }),
		settled("hyper_late_rewards_total", "Number of rewards that corrected what had been learned.", nil,
			func(n agent.Settlements) uint64 { return n.Late }),
		settled("hyper_deferred_total", "Number of deferred decisions.", nil,
			func(n agent.Settlements) uint64 { return n.Deferred }),
		settled("hyper_shown_total", "Number of deferred decisions that were shown.", nil,
			func(n agent.Settlements) uint64 { return n.Shown }),
	}
}

// failing returns 1 if there is an error, and 0 otherwise.
func failing(err error) float64 {
	if err != nil {
		return 1
	}
	return 0
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) answered(path string, status int, d time.Duration) {
	m.seconds.WithLabelValues(path, strconv.Itoa(status)).Observe(d.Seconds())
}

func (m *metrics) decided(d agent.Decision) {
	m.decisions.Inc()
	m.probability.Observe(d.Prob())
}

func (m *metrics) rewarded(y float32, err error, d time.Duration) {
	result := "taken"
	switch {
	case errors.Is(err, agent.ErrUnknown):
		result = "unknown"
	case errors.Is(err, agent.ErrExpired):
		result = "expired"
	case err != nil:
		result = "failed"
	default:
		m.reward.Observe(float64(y))
		m.learning.Observe(d.Seconds())
	}
	m.rewards.WithLabelValues(result).Inc()
}
