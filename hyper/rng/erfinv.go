package rng

import . "github.com/gomlx/gomlx/core/graph"

// ErfInv is the inverse error function in single precision (Giles, "Approximating the erfinv function", 2012), with
// a relative error below 4e-7 for |x| < 0.99.
func ErfInv(x *Node) *Node {
	w := Neg(Log(Mul(OneMinus(x), OnePlus(x))))
	central := horner(AddScalar(w, -2.5), 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
		0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
	tail := horner(AddScalar(Sqrt(MaxScalar(w, 0.0)), -3), -0.000200214257, 0.000100950558, 0.00134934322,
		-0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)
	return Mul(Where(LessThan(w, Scalar(w.Graph(), w.DType(), 5.0)), central, tail), x)
}

func horner(w *Node, coefficients ...float64) *Node {
	p := AddScalar(MulScalar(w, 0.0), coefficients[0])
	for _, c := range coefficients[1:] {
		p = AddScalar(Mul(p, w), c)
	}
	return p
}
