// Package testbed implements the Neural Testbed (Osband et al., "The Neural Testbed: evaluating joint predictions",
// NeurIPS 2022). The truth of a problem is a random network. An agent's score is the distance between its joint
// predictions of several classes and the truth's. In regression sweeps the truth is drawn from a Gaussian process.
//
// [Try] trains an [Agent] on the problems of a [Sweep] and tests it, a [Record] stores the results, and [Leaderboard]
// compares agents:
//
//	sweep := testbed.Classification2D()
//	err := testbed.Try(ctx, testbed.Epinet(testbed.Classes), sweep, testbed.Options{}, func(r []testbed.Result) error {
//		results = append(results, r...)
//		return nil
//	})
//	lines := testbed.Leaderboard(sweep, results, "mlp")
//
// A [Problem] describes the data that an agent learns from, and has the seed of the truth. For classes the truth is a
// random network. An agent predicts the log odds of class 1 for each of K functions that it considers possible. These
// give the log-likelihood of its joint prediction, which is compared to the truth's. For regression the truth is drawn
// from a Gaussian process, whose posterior given the data is known exactly. [Kind] lists the scores.
//
// # What differs from the testbed's code
//
// Problems have the same distribution as the testbed's, with different random numbers. Where the testbed's sources
// disagree, and in details:
//   - ensemble+ multiplies its prior functions by 3/sqrt(rho) in all sweeps. For its second sweep the testbed's code
//     asks for another scaling by a word that the code does not know, and so applies none.
//   - Prior functions are drawn anew for each problem. The testbed's are equal for all problems of a shape.
//   - epinet and dropout have one output, the log odds. The testbed's have one output for each class. The first biases
//     of dropout start at 0; in the testbed they are drawn like weights.
//   - The first biases of ensemble+'s fixed networks are drawn from N(0, 1/D), like the truth's.
//   - The agent mlp makes 1000 steps in all sweeps. This is an oversight of the testbed's code, but the published
//     scores depend on it.
//
// In regression:
//   - The noise of the posterior has variance sigma^2. In enn_paper the testbed's has sigma^2 times the mean of k(x,
//     x), about a quarter of it at D > 1, by a default of the library that computes the posterior
//     (diag_reg_absolute_scale of neural_tangents).
//   - All is drawn and solved in double precision. The covariance of the responses has no ridge: the noise makes it
//     regular. The testbed adds 1e-6 to the kernel, which is too little in single precision at D = 1, where its
//     responses are NaN. The posterior's variances have a ridge of 1e-6, as in the testbed.
//   - The truth at test inputs is drawn given the responses. The testbed draws it together with f at the data. The
//     distribution is the same.
//   - The same functions of an agent predict at all test inputs. The testbed uses different functions at each.
//   - The testbed has no settings of agents for regression: for the settings here see [Agents].
//
// There are always two classes. The first axis of every node is the runs, and a run is a problem. The runs of one batch
// have the same D, T and tau, and may differ in rho and seed.
package testbed
