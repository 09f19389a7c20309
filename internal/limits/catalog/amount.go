package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// All amounts of money are integers. A list price is a whole number of femto-dollars (10^-15),
// which is 10^-9 dollars for a million tokens. A factor is a whole number of 10^-7. Their
// product, in units of 10^-22 dollars, has 128 bits, and the product with a count has 192. The
// only rounding is to nano-dollars, at the end of each term.
const (
	femtoPerCent = 1e13 // femto-dollars in a cent
	centDigits   = 13   // the number of its zeros
	dollarFemto  = 1e15 // femto-dollars in a dollar
	factorOne    = 1e7  // the factor 1
	perNano      = 1e13 // units of price times factor in a nano-dollar: 10^-9 / 10^-22
)

// maxText is the maximum length of a number, to limit the work of parsing it.
const maxText = 64

var (
	errNumber   = errors.New("must be a number of at most 64 digits")
	errNegative = errors.New("must not be negative")
)

// fixed reads a decimal such as "2.5e-06" as a whole number of 1/scale, rounded half up.
func fixed(text string, scale, limit int64) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), len(text) > maxText, strings.ContainsAny(text, "xX_pPnN"):
		return 0, errNumber
	case f < 0:
		return 0, errNegative
	case f > float64(limit):
		return 0, fmt.Errorf("must not exceed %d", limit)
	case f < 1e-30: // less than the smallest counted amount; the exponent may have any size
		return 0, nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, errNumber
	}
	r.Mul(r, new(big.Rat).SetInt64(scale))
	r.Add(r, big.NewRat(1, 2))
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64(), nil
}

// decimal writes v/scale without an exponent and without trailing zeros: "0.0000025". The
// scale is a power of ten, and v is not negative.
func decimal(v, scale int64) string {
	integer, rest := strconv.FormatInt(v/scale, 10), v%scale
	if rest == 0 {
		return integer
	}
	fraction := strconv.FormatInt(scale+rest, 10)[1:] // drops the leading 1 of the scale
	return integer + "." + strings.TrimRight(fraction, "0")
}

// product is a price times a factor, in units of 10^-22 dollars.
type product struct{ hi, lo uint64 }

func newProduct(femto, factor int64) product {
	hi, lo := bits.Mul64(uint64(femto), uint64(factor)) //nolint:gosec // neither is negative
	return product{hi, lo}
}

// less reports whether p is smaller than q.
func (p product) less(q product) bool { return p.hi < q.hi || p.hi == q.hi && p.lo < q.lo }

// times returns the cost of n units in nano-dollars, rounded half up, if p is the price of per
// units. If it does not fit an int64, fits is false and nano is the largest int64. If n is not
// positive the cost is 0.
func (p product) times(n, per int64) (nano int64, fits bool) {
	if n <= 0 || p == (product{}) {
		return 0, true
	}
	count, divisor := uint64(n), perNano*uint64(per) //nolint:gosec // both are positive
	mid, low := bits.Mul64(p.lo, count)
	top, add := bits.Mul64(p.hi, count)
	mid, carry := bits.Add64(mid, add, 0)
	if top+carry > 0 || mid >= divisor {
		return math.MaxInt64, false
	}
	quo, rem := bits.Div64(mid, low, divisor)
	if rem >= divisor-rem {
		quo++
	}
	if quo > math.MaxInt64 {
		return math.MaxInt64, false
	}
	return int64(quo), true
}

// plus returns the sum of two non-negative amounts, or the largest int64 and false if it does
// not fit.
func plus(a, b int64) (sum int64, fits bool) {
	if a > math.MaxInt64-b {
		return math.MaxInt64, false
	}
	return a + b, true
}
