// Package approx builds the universal approximation of section 6 and appendix A. For a probability measure mu over
// functions on a finite set X, it builds a ReLU network f_theta: X -> R and the linear hypermodel g_nu(z) = [z, nu].
// With probability at least 1 - delta, f_{g_nu(z)} is within epsilon of H(z) in the sup norm, where H is a transport
// map from p_z to mu. For example, [Certify] builds a network for functions with two modes on three points, and bounds
// its error:
//
//	m, err := approx.NewMeasure(ctx, "mixture", approx.Setting{Points: approx.Grid(3), Bound: 1})
//	c, err := approx.Certify(ctx, m, approx.Options{Epsilon: 0.1, Delta: 0.1})
//	fmt.Println(c) // P(error <= 0.1) = ...
//
// The steps of the proof are types and functions of this package:
//
//	Measure          mu, on K points of R, with values within [-B, B]; [NewMeasure] makes examples
//	Map              H, a transport map from p_z, uniform on [0, 1]^K or N(0, I_K), to mu
//	Construction     builds H~, a ReLU network near H: each exact map builds its own, and [Trained] builds all others
//	Theorem          f_theta and g_nu, as an ordinary [hyper.Model]; [Build] makes them for a measure
//	Certify          bounds the probability that |f_{g_nu(z)} - H(z)| <= epsilon from below, exactly, with fresh z
//
// A function on X is the vector of its K values, in the order of the points. The package computes on the host in double
// precision. Only the training of networks and the evaluation of f use GoMLX, in single precision.
package approx
