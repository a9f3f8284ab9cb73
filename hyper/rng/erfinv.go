package rng

import . "github.com/gomlx/gomlx/core/graph"

// ErfInv returns the inverse error function in single precision (Giles, "Approximating the erfinv function", 2012). Its
// relative error is below 4e-7 for |x| < 0.99.
func ErfInv(x *Node) *Node {
	w := Neg(Log(Mul(OneMinus(x), OnePlus(x))))
	near := LessThan(w, Scalar(w.Graph(), w.DType(), 5.0))
	t := Where(near, AddScalar(w, -2.5), AddScalar(Sqrt(MaxScalar(w, 0.0)), -3))
	coefficient := func(i int) *Node { // One polynomial with chosen coefficients is faster than two polynomials.
		return Where(near, Scalar(w.Graph(), w.DType(), central[i]), Scalar(w.Graph(), w.DType(), tail[i]))
	}
	p := coefficient(0)
	for i := 1; i < len(central); i++ {
		p = Add(Mul(p, t), coefficient(i))
	}
	return Mul(p, x)
}

// The coefficients of the polynomials, from the highest power to the lowest.
var (
	central = [9]float32{2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
		-0.00417768164, 0.246640727, 1.50140941}
	tail = [9]float32{-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
		0.00943887047, 1.00167406, 2.83297682}
)
