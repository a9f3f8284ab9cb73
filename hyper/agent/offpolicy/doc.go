// Package offpolicy tells from the log of one policy how another would have done: off-policy evaluation. The log has,
// for each decision, the action that was drawn, the probabilities that it was drawn from, and the reward that came, as
// those of package agent do. A target policy is what it would have done in the same decisions: probabilities too.
//
// [NewSample] or [NewPartial] make a [Sample] of each decision; [Evaluate] makes an [Estimate] with an interval of
// them, or says why the log does not allow one.
//
// # Which estimator
//
// w is the importance weight of the action that was taken: its probability under the target over that in the log.
//
//	estimator     is the mean of                    bias            take it
//	SNIPS         w r, over the mean of w           small, to 0     without a reward model
//	DoublyRobust  q(pi) + w (r - q)                 none            with a reward model: most often the best
//	Switch        the same for w up to a threshold  of the model    where a few weights are too heavy for it
//	IPS           w r                               none            for Bernstein bounds, and as a baseline
//	IPS{Clip}     min(w, Clip) r                    of what is cut  for Bernstein bounds with few decisions
//
// The reward model q may be an agent's belief: the mean over functions of agent.Agent.Sample. Its predictions for a
// decision must be made without the reward of the decision: before it came, or by a model of other data.
//
// Sources: Horvitz and Thompson 1952 and Owen, Monte Carlo theory, methods and examples, 2013, chapter 9 (IPS, SNIPS,
// effective size); Swaminathan and Joachims 2015 (SNIPS); Dudik, Erhan, Langford and Li, Doubly robust policy
// evaluation and optimization, 2014 (DoublyRobust); Wang, Agarwal and Dudik, Optimal and adaptive off-policy evaluation
// in contextual bandits, 2017 (Switch).
//
// # Which interval
//
//	interval   holds the truth                   take it
//	Hall       in 93 to 97 of 100 logs: default  almost always (Hall 1992)
//	Bootstrap  so too, with many heavy weights   as a check: it assumes less of the terms (Efron 1979, Hall 1988)
//	Bernstein  at least as often as it says      where a promise for any number of decisions is worth a width of 2 to 10
//	                                             times, and more for few (Maurer and Pontil 2009)
//
// Hall's interval takes the moments of the weights from the probabilities of all actions, and so knows of heavy weights
// that the log happens to lack. The bootstrap cannot: of 400 simulated logs of 600 decisions in which some six weights
// of 50 mattered, its intervals held the truth in 85 of 100, and Hall's in 99. Both are refused there by default:
// below 20 degrees of freedom ([Options].Least) neither is near its level for sure.
//
// Hall's moments take weights and rewards to be independent. IPS is hurt where they are far from it: with rewards in 9
// of 10 decisions of light weights and in 1 of 20 of heavy ones, which carry the variance, 345 of 400 logs were
// refused, and only 18 of the other 55 intervals held the truth. SNIPS and DoublyRobust were not hurt: 386 and 381 of
// 400 did.
//
// Intervals of Switch and of IPS{Clip} are of their own mean, but Bernstein's. That differs from the value of the
// target by at most [Estimate].Blind times the largest error there.
//
// The log may be of an agent that learns, as long as each action was drawn from the probabilities that were logged:
// intervals then hold the truth as often. Contexts, and the rewards of actions in them, should not drift.
package offpolicy
