// Package offpolicy estimates from the log of one policy the mean reward that another policy would have had: off-policy
// evaluation. For each decision, the log has the action that was drawn, the probabilities that it was drawn from, and
// the reward, as a log of package agent has them. The target policy is given by the probabilities with which it would
// have taken the actions in the same decisions.
//
// [NewSample] or [NewPartial] make a [Sample] of each decision. [Evaluate] makes an [Estimate] with an interval from
// the samples, or returns an error that says why the log does not allow an estimate.
//
// # Which estimator
//
// w is the importance weight of the action that was taken: its probability under the target divided by its probability
// in the log. r is the reward, q the reward that a model predicts for the action, and q(pi) the mean of the model's
// predictions under the target.
//
//	estimator     is the mean of                    bias            use it
//	SNIPS         w r, divided by the mean of w     small, to 0     without a reward model
//	DoublyRobust  q(pi) + w (r - q)                 none            with a reward model: usually the best
//	Switch        the same for w up to a threshold  of the model    if a few weights are too heavy for it
//	IPS           w r                               none            as a baseline
//	IPS{Clip}     min(w, Clip) r                    of what is cut  if a few weights are too heavy, without a model
//
// The reward model q may be an agent's belief: the mean over functions of agent.Agent.Sample. Its prediction for a
// decision must not depend on the reward of that decision: make the prediction before the reward arrives, or use a
// model of other data.
//
// Sources: Horvitz and Thompson 1952 and Owen, Monte Carlo theory, methods and examples, 2013, chapter 9 (IPS, SNIPS,
// effective size); Swaminathan and Joachims 2015 (SNIPS); Dudik, Erhan, Langford and Li, Doubly robust policy
// evaluation and optimization, 2014 (DoublyRobust); Wang, Agarwal and Dudik, Optimal and adaptive off-policy evaluation
// in contextual bandits, 2017 (Switch).
//
// # The interval
//
// An interval at level 95% contains the true value in 93 to 97 of 100 logs. It is Hall's interval of a mean ("On the
// removal of skewness by transformation", 1992). Its moments of the weights come from the probabilities of all actions,
// so that it takes account of heavy weights that happen not to occur in the log. In 400 simulated logs of 600 decisions,
// in which about six weights of 50 mattered, the interval contained the true value in 99 of 100 logs. Such logs are
// refused by default: below 20 degrees of freedom ([Options].Least), the interval is not reliably near its level.
//
// The moments assume that weights and rewards are independent. If they are far from independent, IPS suffers. In a
// simulation with rewards in 9 of 10 decisions with light weights and in 1 of 20 with heavy weights, which carry the
// variance, 345 of 400 logs were refused, and only 18 of the other 55 intervals contained the true value. SNIPS and
// DoublyRobust did not suffer: 386 and 381 of 400 intervals contained it.
//
// The intervals of Switch and of IPS{Clip} contain the mean of their own terms. That mean differs from the value of the
// target by at most [Estimate].Blind times the largest error there.
//
// The log may come from an agent that learns, as long as each action was drawn from the logged probabilities: the
// intervals contain the true value equally often. The distribution of contexts, and of the rewards of actions in a
// context, should not drift.
package offpolicy
