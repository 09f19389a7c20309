package quota

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Amount is how much a budget allows, in millionths of what its Measure counts: 25.5
// on the wire is 25500000. It is never a float, so that what was set is what is read.
type Amount int64

// One is a dollar, a token or a request.
const One Amount = 1_000_000

// MaxAmount bounds every amount, and MaxCost those in dollars: usage is kept in 63
// bits, in nano-dollars.
const (
	MaxAmount = 9_000_000_000_000 * One
	MaxCost   = 9_000_000_000 * One
)

// MaxCallUnits is the most that one call counts on a limit, in the units of that: a million
// dollars, and more tokens than there are. What is beyond is a slip of who counted, and must
// not overflow a sum: a limit is far from that, and lets nothing through once it is reached.
const MaxCallUnits = 1 << 50

// Counted is what of the units of one call counts; below 0 in corrections.
func Counted(units int64) int64 { return min(max(units, -MaxCallUnits), MaxCallUnits) }

// maxDigits bounds the text of an amount.
const maxDigits = 40

var errAmount = errors.New("must be a number up to 9000000000000, with at most 6 decimals")

// UnmarshalJSON takes a JSON number, exactly; what does not fit is an error.
func (a *Amount) UnmarshalJSON(b []byte) error {
	text := string(b)
	if text == "null" {
		return nil
	}
	near, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxDigits || math.Abs(near) > float64(MaxAmount/One) {
		return errAmount
	}
	if math.Abs(near) < 1e-6 {
		if digits, _, _ := strings.Cut(strings.ToLower(text), "e"); strings.Trim(digits, "-0.") != "" {
			return errAmount // too fine, however far its exponent is below what a float has
		}
		*a = 0
		return nil
	}
	r, ok := new(big.Rat).SetString(text) // bounded above and below, so this is small
	if !ok {
		return errAmount
	}
	if r.Mul(r, new(big.Rat).SetInt64(int64(One))); !r.IsInt() {
		return errAmount
	}
	*a = Amount(r.Num().Int64())
	return nil
}

// MarshalJSON writes the number in decimals, without an exponent.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// String is the number in decimals: "25.5".
func (a Amount) String() string { return decimals(int64(a), 6) }

// decimals writes n / 10^places without superfluous digits.
func decimals(n int64, digits int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	base := int64(math.Pow10(digits))
	s := strings.TrimRight(fmt.Sprintf("%d.%0*d", n/base, digits, n%base), "0")
	return sign + strings.TrimSuffix(s, ".")
}
