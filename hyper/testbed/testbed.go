// Package testbed is the Neural Testbed (Osband et al., "The Neural Testbed: evaluating joint predictions", NeurIPS
// 2022): problems whose truth is a random network, and the score of an agent, by how far its predictions of several
// classes at once are from the truth's. In sweeps of regression the truth is drawn from a Gaussian process.
//
// A [Problem] is what an agent is told, and the seed of the truth. An [Environment] draws the truth, its data, and with
// [Tests] the batches of inputs to be predicted. An agent predicts the logarithm of the odds of class 1, for each of K
// functions that it holds possible: [Drawn.LogLikelihood] and a [Mixture] of them make the log-likelihood of what it
// says, and [Drawn.Divergence] compares that with the truth. [Sweep] and [Score] sum up many problems.
//
// The truth of regression is a [Process]: what data tell of it, a [Realization], is known exactly. [Kind] says what is
// scored.
//
// Streams of random numbers are the caller's: the same stream for [Environment.Init] and [Environment.Data] gives the
// same problem, however an agent is tested.
//
// [Try] trains an [Agent] on problems, and tests it; a [Record] keeps what came out, and [Leaderboard] compares.
//
// # What differs from the testbed's code
//
// Problems agree with the testbed's in distribution; the random numbers are others. Where its sources disagree:
//   - ensemble+ has prior functions times 3/sqrt(rho) in all sweeps. The testbed's code for its second sweep asks for
//     another scaling by a word that it does not know, and so has none.
//   - Prior functions are drawn anew for each problem; there they are the same for all problems of a shape.
//   - epinet and dropout have one output, the log odds, where the testbed's have one for each class, and the first
//     biases of dropout start at 0, there as weights do.
//   - hypermodel starts as that of the library enn before 20 May 2022 (commit 83d3b06). Since then the s parameters of
//     an array start with deviations of 1/sqrt(s) in mu and sqrt(2/(6+s)) in C, and the first layer of the prior's
//     network is not divided by sqrt(D). In the bandit of package beyond the later start has about half the regret.
//   - The first biases of ensemble+'s fixed networks are N(0, 1/D), as the truth's.
//   - The agent mlp has 1000 steps in all sweeps, as by an oversight of the code, since published scores have it so.
//
// Of regression:
//   - The posterior is that of noise of variance sigma^2. The testbed's, in enn_paper, is that of sigma^2 times the mean
//     of k(x, x), about a quarter of it at D > 1, by a default of the library that computes it (diag_reg_absolute_scale
//     of neural_tangents).
//   - All is drawn and solved in double precision. The covariance of the responses, which the noise makes regular, has no
//     ridge; the testbed adds 1e-6 to the kernel, which is too little in single precision at D = 1, where its responses
//     are not numbers. The posterior's variances have a ridge of 1e-6, as there.
//   - The truth at test inputs is drawn given the responses; the testbed draws it together with f at the data. The
//     distribution is the same.
//   - The same functions of an agent are asked at all test inputs; the testbed's regression asks others at each.
//   - The testbed has no settings of agents for regression: see [Agents] for ours.
//
// There are always two classes. The first axis of every node is the runs, which are problems here: runs of one batch
// have the same D, T and tau, and may differ in rho and seed.
package testbed
