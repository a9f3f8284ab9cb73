package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// winners has the settings that the searches of equal budget found (notebooks/results/PROTOCOL.md), by the names of
// their records in notebooks/results/tuning/equal. A name is AGENT-ACTIONS: an agent, and the number of actions of the
// neural bandit. "paper" is the linear hypermodel trained by the paper's own algorithm: plain SGD with indices that are
// drawn independently. "diagonal-dense" is the diagonal hypermodel with dense rows of B. "linear-4" is the linear
// hypermodel with 4 indices in each step, for appendices D and E. "without-prior" is the ensembles of appendix B
// without an additive prior. Agents of later work have networks of the paper's size.
//
// "best" has the results of the searches that judge by 100,000 periods (stratum B of notebooks/results/PROTOCOL.md), in
// notebooks/results/tuning/best. "exploring" has the result of a later search for the ensemble of 10, with actions at
// random, in notebooks/results/tuning/again.
var winners = map[string]string{
	"linear-200": "index-samples=60 index-set=frame initial-map=0.1 optimizer=adam perturbation=0 " +
		"prior-factor=2.84 sgd-steps=8 step-size=0.00555",
	"linear-4-200": "index-samples=4 index-set=iid initial-map=0.3 optimizer=adam perturbation=1 prior-factor=0.47 " +
		"sgd-steps=8 step-size=0.00207",
	"ensemble-10-200": "initial-scale=0.3 integrate=analytic optimizer=adam perturbation=0 prior-factor=2.84 " +
		"sgd-steps=8 step-size=0.00555",
	"ensemble-30-200": "index-samples=16 initial-scale=3 integrate=sampled optimizer=adam perturbation=0 " +
		"prior-factor=0.341 sgd-steps=4 step-size=0.00425",
	"ensemble-100-200": "initial-scale=1 integrate=analytic optimizer=adam perturbation=0.5 prior-factor=0.141 " +
		"sgd-steps=4 step-size=0.0282",
	"egreedy-200":  "anneal=29.5 initial-scale=1 optimizer=adam prior-variance=1.06 sgd-steps=8 step-size=0.00207",
	"diagonal-200": "optimizer=adam perturbation=1 prior-factor=1.59 prior-multiplier=0.1 sgd-steps=2 step-size=0.0018",
	"diagonal-dense-200": "optimizer=adam perturbation=1 prior-factor=0.343 prior-multiplier=0.1 sgd-steps=8 " +
		"step-size=0.0135",
	"bbb-200": "initial-deviation=0.3 kl-strength=0.0203 optimizer=adam prior-deviation=0.5 sgd-steps=8 " +
		"step-size=0.00834",
	"dropout-200": "index-set=iid initial-scale=3 keep=0.8 optimizer=adam prior-variance=0.711 sgd-steps=2 " +
		"step-size=0.00313",
	"paper-200": "clip=1 index-samples=16 initial-map=0.3 perturbation=0 prior-factor=3.03 sgd-steps=8 step-size=0.0917",

	"linear-1000": "index-samples=60 index-set=frame initial-map=0.1 optimizer=adam perturbation=0 " +
		"prior-factor=2.84 sgd-steps=8 step-size=0.00555",
	"paper-1000": "clip=5 index-samples=16 initial-map=0.3 perturbation=1 prior-factor=0.281 sgd-steps=8 step-size=0.0147",
	"hypernetwork-1000": "index-samples=60 index-set=frame initial-map=0.3 optimizer=adam perturbation=1 " +
		"prior-factor=0.47 sgd-steps=8 step-size=0.00207",
	"ensemble-10-1000": "clip=0 index-samples=16 initial-scale=3 integrate=sampled optimizer=sgd perturbation=0 " +
		"prior-factor=0.205 sgd-steps=4 step-size=0.0167",
	"ensemble-30-1000": "initial-scale=0.3 integrate=analytic optimizer=adam perturbation=0 prior-factor=0.148 " +
		"sgd-steps=4 step-size=0.0377",
	"ensemble-100-1000": "initial-scale=0.3 integrate=analytic optimizer=adam perturbation=0 prior-factor=0.148 " +
		"sgd-steps=4 step-size=0.0377",
	"egreedy-1000": "anneal=9.87 initial-scale=0.3 optimizer=adam prior-variance=0.333 sgd-steps=4 " +
		"step-size=0.0377",
	"diagonal-1000": "optimizer=adam perturbation=1 prior-factor=1.59 prior-multiplier=0.1 sgd-steps=2 " +
		"step-size=0.0018",
	"bbb-1000": "initial-deviation=0.3 kl-strength=0.0203 optimizer=adam prior-deviation=0.5 sgd-steps=8 " +
		"step-size=0.00834",
	"dropout-1000": "initial-scale=3 keep=0.8 optimizer=adam prior-variance=7.11 sgd-steps=2 " +
		"step-size=0.00313",

	"epinet-1000": "belief-hidden=10x10 belief-prior-scale=3 clip=0 index-samples=64 index-set=frame optimizer=sgd " +
		"perturbation=0 prior-factor=1.38 sgd-steps=2 step-size=0.269",
	"last-layer-1000": "belief-hidden=10x10 belief-prior-scale=3 index-samples=16 index-set=iid optimizer=adam " +
		"perturbation=0.5 prior-factor=0.316 sgd-steps=2 step-size=0.00313",
	"ensemble-plus-plus-neural-1000": "belief-hidden=10x10 belief-prior-scale=3 belief-scale=1 clip=5 " +
		"optimizer=sgd perturbation=1 prior-factor=1.96 sgd-steps=2 step-size=0.133",
	"network-gp-1000": "belief-hidden=10x10 belief-length=0.5 belief-prior-scale=3 optimizer=adam prior-factor=0.341 " +
		"sgd-steps=4 step-size=0.00425",

	"best-linear-1000": "clip=1 index-samples=60 index-set=frame initial-map=1 optimizer=adam perturbation=1 " +
		"prior-factor=3.02 schedule=inverse-root schedule-after=6.54e+03 sgd-steps=4 step-size=0.00051",
	"best-ensemble-10-1000": "clip=1 initial-scale=3 integrate=analytic optimizer=sgd perturbation=0.5 " +
		"prior-factor=0.31 schedule=constant sgd-steps=2 step-size=0.121",
	"best-ensemble-30-1000": "clip=1 initial-scale=3 integrate=analytic optimizer=sgd perturbation=0.5 " +
		"prior-factor=0.31 schedule=constant sgd-steps=2 step-size=0.121",
	"exploring-ensemble-10-1000": "anneal=30 clip=1 initial-scale=3 integrate=analytic noise-variance=0.4 " +
		"optimizer=adam perturbation=1 policy=egreedy policy-samples=1 prior-factor=0.1 prior-multiplier=0.5 " +
		"schedule=inverse-root schedule-after=1000 sgd-steps=4 standardize-rewards=yes step-size=0.006",
	"best-egreedy-1000": "anneal=27.5 clip=0 initial-scale=1 optimizer=adam prior-variance=0.241 schedule=cosine " +
		"schedule-periods=100000 sgd-steps=8 step-size=0.016",

	"without-prior-10-200": "initial-scale=3 integrate=analytic optimizer=adam perturbation=1 prior-factor=0.176 " +
		"sgd-steps=4 step-size=0.00141",
	"without-prior-30-200": "index-samples=16 initial-scale=3 integrate=sampled optimizer=adam perturbation=0 " +
		"prior-factor=0.292 sgd-steps=2 step-size=0.0468",
	"without-prior-100-200": "index-samples=16 initial-scale=3 integrate=sampled optimizer=adam perturbation=1 " +
		"prior-factor=3.85 sgd-steps=4 step-size=0.0173",
	"without-prior-10-1000": "initial-scale=3 integrate=analytic optimizer=adam perturbation=0 prior-factor=2.31 " +
		"sgd-steps=4 step-size=0.000566",
	"without-prior-30-1000": "clip=1 initial-scale=0.3 integrate=analytic optimizer=sgd perturbation=0 " +
		"prior-factor=5.97 sgd-steps=8 step-size=0.0546",
	"without-prior-100-1000": "clip=1 initial-scale=0.3 integrate=analytic optimizer=sgd perturbation=0 " +
		"prior-factor=5.97 sgd-steps=8 step-size=0.0546",
}

// winner returns the settings of a record in winners. It panics if there is no such record.
func winner(record string) []string {
	sets, ok := winners[record]
	if !ok {
		panic("paper: no search has the record " + record)
	}
	return strings.Fields(sets)
}

// tuned returns a winner's settings for an agent of the neural bandit. They apply if the keys in when, and the number
// of actions, have the given values.
func tuned(agent, record string, actions int, when ...string) lab.SearchResult {
	return lab.SearchResult{Agent: agent, When: slices.Concat(when, []string{fmt.Sprintf("actions=%d", actions)}),
		Sets: winner(fmt.Sprintf("%s-%d", record, actions))}
}

// neuralTuned returns the settings of section 4.2 and appendices B to E. The ensemble of 300 has the settings of 100.
// With 4 indices in each step, as in appendices D and E, the linear hypermodel has its own settings. The results for
// long runs come before those for runs of any length. The paper's own algorithm has the same settings in runs of any
// length.
func neuralTuned(long ...lab.SearchResult) (out []lab.SearchResult) {
	out = append(out, tuned("linear", "linear-4", 200, "index-samples=4"), tuned("linear", "paper", 200, paperSGD...),
		tuned("linear", "paper", 1000, paperSGD...), tuned("diagonal", "diagonal-dense", 200, "prior-rows=dense"))
	out = append(out, long...)
	for _, actions := range []int{200, 1000} {
		for _, agent := range []string{"linear", "egreedy", "diagonal", "bbb", "dropout"} {
			out = append(out, tuned(agent, agent, actions))
		}
		for _, n := range ensembleSizes {
			out = append(out,
				tuned("ensemble", fmt.Sprintf("without-prior-%d", min(n, 100)), actions, particles(n), "additive-prior=no"),
				tuned("ensemble", fmt.Sprintf("ensemble-%d", min(n, 100)), actions, particles(n)))
		}
	}
	for _, agent := range []string{"hypernetwork", "epinet", "last-layer", "ensemble-plus-plus-neural", "network-gp"} {
		out = append(out, tuned(agent, agent, 1000)) // these agents have no search with 200 actions
	}
	return out
}

// longPeriods is the least number of periods of a long run. In long runs, agents of section 4.2 use the settings from
// searches over 100,000 periods. Short searches often choose settings that are bad in long runs.
const longPeriods = 20_000

// bestTuned returns the settings of section 4.2 for long runs, where there are any, and the settings of neuralTuned.
func bestTuned() []lab.SearchResult {
	long := []lab.SearchResult{tuned("linear", "best-linear", 1000), tuned("egreedy", "best-egreedy", 1000),
		tuned("ensemble", "exploring-ensemble-10", 1000, particles(10)),
		tuned("ensemble", "best-ensemble-10", 1000, particles(10)), // for another policy, optimizer or schedule
		tuned("ensemble", "best-ensemble-30", 1000, particles(30))}
	for i := range long {
		long[i].Periods = longPeriods
	}
	return neuralTuned(long...)
}
