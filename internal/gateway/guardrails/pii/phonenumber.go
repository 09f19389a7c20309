package pii

import "strings"

// Limits of phone numbers in digits. Source: ITU-T E.164 for the maximum.
const (
	maxPhoneDigits = 15
	minPhoneDigits = 7
)

// dialled is a phone number as it is written: groups of digits with separators.
type dialled struct {
	groups
	plus    bool // begins with "+"
	bracket bool // has "(" or "/"
	hyphen  bool // "-" or "." between digits
}

// phoneAt finds the phone number that begins at i: with a digit, "+" or "(". International and clearly
// formatted numbers suffice; others need a word such as "phone" near them.
func (s *scanner) phoneAt(i int) (start, end int, ok bool) {
	if !s.startsPhone(i) {
		return 0, 0, false
	}
	var d dialled
	s.readDialled(i, &d)
	for n := d.count; n > 0; n-- {
		end := d.end[n-1]
		if size := d.size(n); size < minPhoneDigits || size > maxPhoneDigits+3 || !s.endsToken(end) {
			continue
		}
		if d.isInternational(n) || s.isNational(&d, n, i) {
			return i, s.extensionEnd(end), true
		}
	}
	return 0, 0, false
}

// startsPhone reports whether a phone number may begin at i, and was not tried from a sign before it.
func (s *scanner) startsPhone(i int) bool {
	if before := s.byteAt(i - 1); before == '+' || before == '(' && s.text[i] != '+' {
		return false
	}
	return s.startsToken(i)
}

// readDialled reads the number that begins at i.
func (s *scanner) readDialled(i int, d *dialled) {
	if s.text[i] == '(' && s.byteAt(i+1) == '+' {
		d.bracket = true
		i++
	}
	if s.text[i] == '+' {
		d.plus = true
		i++
	}
	for d.count < maxGroups {
		next, marks := s.skipSeparators(i, d.plus)
		if !isDigit(s.byteAt(next)) || d.count > 0 && next == i {
			return
		}
		d.bracket, d.hyphen = d.bracket || marks.bracket, d.hyphen || marks.hyphen
		i = d.readDigits(s.text, next)
	}
}

// separators are the signs between two groups.
type separators struct{ bracket, hyphen bool }

// skipSeparators returns the offset after at most four separators, such as ") " and " - ". The "(0)" of
// an international number, which is not dialled, counts as one.
func (s *scanner) skipSeparators(i int, international bool) (next int, marks separators) {
	for range 4 {
		switch s.byteAt(i) {
		case ' ':
		case '(', ')', '/':
			marks.bracket = true
			if international && strings.HasPrefix(s.text[i:], "(0)") {
				i += 2
			}
		case '-', '.':
			if marks.hyphen {
				return i, marks
			}
			marks.hyphen = true
		default:
			return i, marks
		}
		i++
	}
	return i, marks
}

// extensionMarks precede an extension, longer ones first.
var extensionMarks = [...]string{" ext. ", " ext.", " ext ", " x", " Durchwahl "}

// extensionEnd returns the end of an extension such as "ext. 42" that follows a number, or end.
func (s *scanner) extensionEnd(end int) int {
	for _, mark := range extensionMarks {
		if i := end + len(mark); strings.HasPrefix(s.text[end:], mark) && isDigit(s.byteAt(i)) {
			return min(s.skipDigits(i), end+20)
		}
	}
	return end
}

// isInternational reports whether the first n groups are a number with a country code, after "+" or an
// international prefix.
func (d *dialled) isInternational(n int) bool {
	number := d.number(n)
	if !d.plus {
		prefix := d.internationalPrefix(n)
		if prefix == 0 {
			return false
		}
		number = number[prefix:]
	}
	code, low, high := countryCode(number)
	national := len(number) - code
	return code > 0 && national >= low && national <= high
}

// internationalPrefix returns the length of the prefix "00", or of "011" in a group of its own, 0 without
// one.
func (d *dialled) internationalPrefix(n int) int {
	number := d.number(n)
	switch {
	case len(number) > 10 && string(number[:2]) == "00" && number[2] != '0':
		return 2
	case len(number) > 11 && string(number[:3]) == "011" && n > 2 && d.length(0) == 3:
		return 3
	}
	return 0
}

// maxNational is the number of digits that national numbers have at most, with a leading zero.
const maxNational = 13

// isNational reports whether the first n groups are a number without a country code.
func (s *scanner) isNational(d *dialled, n, i int) bool {
	form := d.form(n)
	if form == noNumber || d.plus {
		return false
	}
	all, nearest := s.cuesBefore(i)
	if nearest&(cueOrder|cueVersion) != 0 && nearest&cuePhone == 0 {
		return false
	}
	return form == clearNumber || (all|s.cuesAfter(d.end[n-1]))&cuePhone != 0
}

// numberForm is what the form of a number without a country code indicates.
type numberForm uint8

const (
	noNumber       numberForm = iota // cannot be a phone number
	possibleNumber                   // a word such as "phone" must be near
	clearNumber                      // a phone number unless a word indicates something else
)

// form returns what the first n groups can be.
func (d *dialled) form(n int) numberForm {
	number := d.number(n)
	switch {
	case len(number) > maxNational, d.isDate(n):
		return noNumber
	case d.isNorthAmerican(n):
		if d.bracket || d.hyphen && n > 1 {
			return clearNumber
		}
		return possibleNumber
	case number[0] == '0' && number[1] != '0':
		return d.trunkForm(n)
	case d.isLocal(n):
		return possibleNumber
	}
	return noNumber
}

// trunkForm returns what a number with a leading zero can be: an area code and a local number.
func (d *dialled) trunkForm(n int) numberForm {
	size, area := d.size(n), d.length(0)
	isPostcode := n == 2 && area == 5 && d.length(1) == 4 // of the United States
	switch {
	case size < 8, area < 2:
		return noNumber
	case n == 1, n > 5, size > 12, area > 6, isPostcode:
		return possibleNumber
	case d.bracket, size >= 9 && area >= 3 && d.length(n-1) >= 2:
		return clearNumber
	}
	return possibleNumber
}

// isLocal reports whether the first n groups may be a number without a leading zero: seven digits in two
// groups, or up to twelve in usual groups.
func (d *dialled) isLocal(n int) bool {
	size := d.size(n)
	if size == minPhoneDigits {
		return n == 2 && d.length(0) == 3
	}
	longest := d.length(0)
	for k := 1; k < n; k++ {
		if longest = max(longest, d.length(k)); k > 1 && d.length(k) == 1 {
			return false
		}
	}
	return longest > 2 && size <= 12 && (n > 1 || size >= 9)
}

// isNorthAmerican reports whether the first n groups have the form of the North American Numbering Plan;
// a 1 may come first.
func (d *dialled) isNorthAmerican(n int) bool {
	number, first := d.number(n), 0
	if len(number) == 11 && number[0] == '1' {
		number = number[1:]
		if n > 1 && d.length(0) == 1 {
			first = 1
		}
	}
	if !isNorthAmericanNumber(number) {
		return false
	}
	switch n - first {
	case 1:
		return true
	case 2:
		return d.length(first)%3 == 0 // 3-7 or 6-4
	case 3:
		return d.length(first) == 3 && d.length(first+1) == 3
	}
	return false
}

// isNorthAmericanNumber reports whether area code and exchange begin with 2 to 9.
func isNorthAmericanNumber(number []byte) bool {
	return len(number) == 10 && number[0] >= '2' && number[1] != '9' && number[3] >= '2'
}

// isDate reports whether the first n groups are a date such as 17.05.2024 or 2024-05-17, or two years.
func (d *dialled) isDate(n int) bool {
	switch n {
	case 2:
		return d.isYear(0) && d.isYear(1)
	case 3:
		first, second, third := d.length(0), d.length(1), d.length(2)
		return second <= 2 && (first <= 2 && d.isYear(2) || d.isYear(0) && third <= 2)
	}
	return false
}

// isYear reports whether a group is a year of the 20th or 21st century.
func (d *dialled) isYear(k int) bool {
	if d.length(k) != 4 {
		return false
	}
	century := string(d.digits[d.start[k] : d.start[k]+2])
	return century == "19" || century == "20"
}
