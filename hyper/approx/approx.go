// Package approx builds the universal approximation of section 6 and appendix A: for a probability measure mu over
// functions on a finite set X, a ReLU network f_theta: X -> R and the linear hypermodel g_nu(z) = [z, nu] such that
// f_{g_nu(z)} is within epsilon of H(z), in the sup norm and with probability at least 1 - delta, where H is a
// transport map from p_z to mu.
//
// The steps of the proof are the files of this package:
//
//	Measure          mu, on K points of R and within [-B, B]; [NewMeasure] makes examples
//	Map              H, a transport map from p_z, uniform on [0, 1]^K or N(0, I_K), to mu
//	Construction     H~, a ReLU network near H
//	Theorem          f_theta and g_nu, as an ordinary [hyper.Model]
//	Certify          the probability that |f_{g_nu(z)} - H(z)| <= epsilon, with an exact lower bound from fresh z
//
// A function on X is a vector of its K values, in the order of the points. Everything here runs on the host in double
// precision, but for the training of networks and the evaluation of f, which are GoMLX's in single precision.
package approx
