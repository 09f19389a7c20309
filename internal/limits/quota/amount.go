package quota

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Amount is the limit or threshold of a budget, in millionths of the unit of its Measure: 25.5
// in JSON is 25500000. It is an integer, so a value is read back exactly as it was set.
type Amount int64

// One is one dollar, one token or one request.
const One Amount = 1_000_000

// MaxAmount limits every amount, and MaxCost limits amounts in dollars. Usage is stored in 63
// bits, in nano-dollars.
const (
	MaxAmount = 9_000_000_000_000 * One
	MaxCost   = 9_000_000_000 * One
)

// MaxCallUnits is the maximum that one call counts on a limit, in the units of that limit:
// about a million dollars in nano-dollars. A larger value is a counting error and must not
// overflow a sum.
const MaxCallUnits = 1 << 50

// Counted returns the units of one call, clamped to ±MaxCallUnits. Corrections have negative
// units.
func Counted(units int64) int64 { return min(max(units, -MaxCallUnits), MaxCallUnits) }

// maxDigits is the maximum length of an amount in JSON, in bytes.
const maxDigits = 40

var errAmount = errors.New("must be a number up to 9000000000000, with at most 6 decimals")

// UnmarshalJSON reads a JSON number exactly. A number that does not fit is an error; null
// changes nothing.
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
			return errAmount // more than 6 decimals, even where the exponent is too small for a float
		}
		*a = 0
		return nil
	}
	r, ok := new(big.Rat).SetString(text) // the checks above limit the exponent, so this is small
	if !ok {
		return errAmount
	}
	if r.Mul(r, new(big.Rat).SetInt64(int64(One))); !r.IsInt() {
		return errAmount
	}
	*a = Amount(r.Num().Int64())
	return nil
}

// MarshalJSON writes the amount as a decimal number without an exponent.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// String returns the amount as a decimal number: "25.5".
func (a Amount) String() string { return decimals(int64(a), 6) }

// decimals writes n / 10^digits without trailing zeros.
func decimals(n int64, digits int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	base := int64(math.Pow10(digits))
	s := strings.TrimRight(fmt.Sprintf("%d.%0*d", n/base, digits, n%base), "0")
	return sign + strings.TrimSuffix(s, ".")
}
