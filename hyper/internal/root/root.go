// Package root keeps a root of the inverse of a growing matrix, by rank-one updates.
package root

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Update adds a datum phi [runs, n] with weight rho [runs, 1] to the root S [runs, n, n] of Q = S S^T, by Potter's
// update (Battin 1964, "Astronautical Guidance"; Bierman 1977, "Factorization Methods for Discrete Sequential
// Estimation", section V.2). It returns the new root, and the gain k = Q phi rho / (1 + rho phi^T Q phi) with the Q
// before the update. With f = S^T phi and a = 1 / (1 + rho f^T f),
//
//	k = rho a S f,   S <- S - rho a / (1 + sqrt(a)) (S f) f^T
//
// blocks describes the block diagonal structure of S. Update uses sums and not products of matrices, because XLA might
// add the terms of a product in an order that depends on the number of runs.
func Update(s, phi, rho *Node, blocks Blocks) (root, gain *Node) {
	f := ReduceSum(Mul(s, InsertAxes(phi, -1)), 1)
	a := Reciprocal(AddScalar(Mul(rho, blocks.Norm2(f)), 1))
	sf := Mul(Mul(rho, a), ReduceSum(Mul(s, InsertAxes(f, 1)), 2))
	change := Mul(InsertAxes(Div(sf, AddScalar(Sqrt(a), 1)), -1), InsertAxes(f, 1))
	return Sub(s, blocks.Restrict(change)), sf
}

// Blocks describes the blocks of a block diagonal matrix.
type Blocks interface {
	// Norm2 returns the squared norm of each block's part of f [runs, n], at each entry of the block. For a single
	// block the result may be [runs, 1].
	Norm2(f *Node) *Node
	// Restrict sets the entries of m [runs, n, n] outside the blocks to 0.
	Restrict(m *Node) *Node
}

// Whole is a matrix with a single block.
type Whole struct{}

func (Whole) Norm2(f *Node) *Node { return ReduceAndKeep(Square(f), ReduceSum, 1) }

func (Whole) Restrict(m *Node) *Node { return m }
