package pii

// issuer describes numbers of payment cards by their first digits. Source: ISO/IEC 7812 ranges as the
// card networks publish them.
type issuer struct {
	from, to             int // range of the first digits
	digits               int // number of first digits
	minLength, maxLength int
}

var issuers = [...]issuer{
	{4, 4, 1, 13, 19},       // Visa: 13, 16 or 19
	{51, 55, 2, 16, 16},     // Mastercard
	{2221, 2720, 4, 16, 16}, // Mastercard
	{34, 34, 2, 15, 15},     // American Express
	{37, 37, 2, 15, 15},
	{36, 36, 2, 14, 19}, // Diners Club
	{38, 39, 2, 16, 19},
	{300, 305, 3, 16, 19},
	{6011, 6011, 4, 16, 19}, // Discover
	{644, 649, 3, 16, 19},
	{65, 65, 2, 16, 19},
	{3528, 3589, 4, 16, 19}, // JCB
	{62, 62, 2, 16, 19},     // UnionPay
	{2200, 2204, 4, 16, 19}, // Mir
	{9792, 9792, 4, 16, 16}, // Troy
	{5018, 5018, 4, 12, 19}, // Maestro
	{5020, 5020, 4, 12, 19},
	{5038, 5038, 4, 12, 19},
	{5893, 5893, 4, 12, 19},
	{6304, 6304, 4, 12, 19},
	{6759, 6763, 4, 12, 19},
}

// Lengths of card numbers.
const (
	minCardDigits = 12
	maxCardDigits = 19
)

// cardAt finds the number of a payment card that begins at i: a known issuer, a valid check digit, and
// the usual groups.
func (s *scanner) cardAt(i int) (start, end int, ok bool) {
	if !s.startsToken(i) {
		return 0, 0, false
	}
	var g groups
	s.readGroups(i, &g)
	for n := g.count; n > 0; n-- {
		if g.isCard(n) && s.endsToken(g.end[n-1]) {
			all, nearest := s.cuesBefore(i)
			return i, g.end[n-1], nearest&cueOrder == 0 || all&cueCard != 0
		}
	}
	return 0, 0, false
}

// isCard reports whether the first n groups are the number of a payment card.
func (g *groups) isCard(n int) bool {
	size := g.size(n)
	if size < minCardDigits || size > maxCardDigits || !g.hasCardGroups(n) {
		return false
	}
	number := g.number(n)
	return isIssued(number) && isLuhn(number)
}

// hasCardGroups reports whether the groups are usual for cards: 4-4-4-4, 4-6-5, or one group.
func (g *groups) hasCardGroups(n int) bool {
	if n == 1 {
		return true
	}
	if n == 3 && g.length(0) == 4 && g.length(1) == 6 {
		return true
	}
	for k := range n - 1 {
		if g.length(k) != 4 || g.sep[k] != g.sep[0] {
			return false
		}
	}
	return true
}

// isIssued reports whether the first digits and the length belong to an issuer.
func isIssued(number []byte) bool {
	first := 0 // first four digits
	for _, d := range number[:4] {
		first = first*10 + int(d-'0')
	}
	for _, is := range issuers {
		prefix := first
		for range 4 - is.digits {
			prefix /= 10
		}
		if prefix >= is.from && prefix <= is.to && len(number) >= is.minLength && len(number) <= is.maxLength {
			return is.from != 4 || len(number)%3 == 1 // Visa: 13, 16 or 19
		}
	}
	return false
}

// isLuhn reports whether the last digit is the check digit of Luhn's formula.
func isLuhn(number []byte) bool {
	sum := 0
	for i, double := len(number)-1, false; i >= 0; i, double = i-1, !double {
		d := int(number[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
