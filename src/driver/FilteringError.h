//===- FilteringError.h - how far minimal filtering may be off -----------------------------------------===//
// From the very sums that a kernel rounds, in double precision. For one result of a tile let a be the factors
// by which the transform back multiplies the points' products, u and v the transformed taps and inputs of a
// channel, and w^2 the sum of the squares of what is added up to v. Then
//   S^2 = sum over points of a^2 x (sum over channels of u^2 w^2),
//   T^2 = sum over points of a^2 x (sum over channels of u^2 v^2), about S^2 but where a transform cancels,
//   P^2 = sum over points of a^2 x (sum over channels of u v)^2.
// A point's products are added up channel by channel, so each rounding is relative to the sum so far.
// Products of either sign add up to about their root sum of squares, P = T, and n roundings of that to S x
// root of n units. Products of one sign add up to P = T x root of n, and where they are equal, all roundings
// may go the same way: n of them are T x n^(3/2) units. The root of n times (S + P^2 / T) is in proportion to
// both.
#pragma once
#include "ir/Tk.h"
#include <vector>

namespace tokamak::driver {

/// The most that each result of a convolution that has the attribute `winograd` may be off by, in row-major
/// order: 1.5e-7, two and a half roundings, of (S + P^2 / T) x root of (channels + 16), of which the 16 stand
/// for the roundings of the transforms. Inputs that are not finite do not count; 0 where taps are not.
std::vector<double> filteringError(tk::ConvOp conv, const Tensor &input, const Tensor &weight);

} // namespace tokamak::driver
