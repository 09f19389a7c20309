package pii

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

func (s *scanner) startsPhone(i int) bool {
	if i > 0 && (s.text[i-1] == '+' || s.text[i-1] == '(' && s.text[i] != '+') {
		return false // was tried from there
	}
	return s.startsToken(i)
}

// readDialled reads the number that begins at i.
func (s *scanner) readDialled(i int, d *dialled) {
	if i+1 < len(s.text) && s.text[i] == '(' && s.text[i+1] == '+' {
		d.bracket = true
		i++
	}
	if s.text[i] == '+' {
		d.plus = true
		i++
	}
	for d.count < maxGroups {
		next, marks := s.skipSeparators(i, d.plus)
		if next == len(s.text) || !isDigit(s.text[next]) || d.count > 0 && next == i {
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
	for n := 0; n < 4 && i < len(s.text); n++ {
		switch b := s.text[i]; b {
		case ' ':
		case '(', ')', '/':
			marks.bracket = true
			if international && i+3 < len(s.text) && s.text[i:i+3] == "(0)" {
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

// extensionEnd returns the end of an extension such as "ext. 42" that follows a number, or end.
func (s *scanner) extensionEnd(end int) int {
	i := end
	for _, mark := range [...]string{" ext. ", " ext ", " x", " Durchwahl ", " ext."} {
		if len(s.text) > i+len(mark) && s.text[i:i+len(mark)] == mark && isDigit(s.text[i+len(mark)]) {
			i += len(mark)
			for i < len(s.text) && i < end+20 && isDigit(s.text[i]) {
				i++
			}
			return i
		}
	}
	return end
}

// isInternational reports whether the first n groups are a number with a country code.
func (d *dialled) isInternational(n int) bool {
	number := d.number(n)
	switch {
	case d.plus:
	case len(number) > 10 && string(number[:2]) == "00" && number[2] != '0' && (n > 1 || len(number) <= maxPhoneDigits):
		number = number[2:]
	case len(number) > 11 && string(number[:3]) == "011" && n > 2 && d.length(0) == 3:
		number = number[3:]
	default:
		return false
	}
	code, low, high := countryCode(number)
	national := len(number) - code
	return code > 0 && national >= low && national <= high
}

// isNational reports whether the first n groups are a number without a country code.
func (s *scanner) isNational(d *dialled, n, i int) bool {
	number := d.number(n)
	if d.plus || len(number) > 13 || d.isDate(n) {
		return false
	}
	before, nearest := s.cuesBefore(i)
	if nearest&(cueOrder|cueVersion) != 0 && nearest&cuePhone == 0 {
		return false
	}
	hinted := (before|s.cuesAfter(d.end[n-1]))&cuePhone != 0
	switch {
	case d.isNorthAmerican(n):
		return hinted || d.bracket || d.hyphen && n > 1
	case number[0] == '0' && number[1] != '0':
		return len(number) >= 8 && (hinted || n > 1 && n <= 5 && d.hasTrunkGroups(n))
	case len(number) == minPhoneDigits:
		return hinted && n == 2 && d.length(0) == 3
	}
	return hinted && len(number) <= 12 && d.hasEvenGroups(n) && (n > 1 || len(number) >= 9)
}

// isNorthAmerican reports whether the first n groups have the form of the North American Numbering Plan:
// area code and exchange begin with 2 to 9.
func (d *dialled) isNorthAmerican(n int) bool {
	number := d.number(n)
	if len(number) == 11 && number[0] == '1' {
		number = number[1:]
		if n > 1 && d.length(0) == 1 {
			return isNorthAmericanNumber(number) && (n == 4 && d.length(1) == 3 && d.length(2) == 3 || n == 2)
		}
	}
	if len(number) != 10 || !isNorthAmericanNumber(number) {
		return false
	}
	return n == 1 || n == 2 && (d.length(0) == 3 || d.length(0) == 6) || n == 3 && d.length(0) == 3 && d.length(1) == 3
}

func isNorthAmericanNumber(number []byte) bool {
	return number[0] >= '2' && number[3] >= '2' && number[1] != '9'
}

// hasTrunkGroups reports whether the groups look like an area code with its leading zero and a local
// number.
func (d *dialled) hasTrunkGroups(n int) bool {
	size, area := d.size(n), d.length(0)
	if size > 12 || area < 2 || area > 6 {
		return false
	}
	if n == 2 && area == 5 && d.length(1) == 4 { // a postcode of the United States
		return false
	}
	return d.bracket || size >= 9 && area >= 3 && d.length(n-1) >= 2
}

// hasEvenGroups reports whether no group after the first is a single digit.
func (d *dialled) hasEvenGroups(n int) bool {
	for k := 1; k < n; k++ {
		if d.length(k) == 1 && k > 1 {
			return false
		}
	}
	return true
}

// isDate reports whether the first n groups are a date such as 17.05.2024 or 2024-05-17.
func (d *dialled) isDate(n int) bool {
	if n != 3 {
		return n == 2 && d.length(0) == 4 && d.length(1) == 4 && d.isYear(0) && d.isYear(1)
	}
	return d.length(1) <= 2 && (d.length(0) <= 2 && d.length(2) == 4 && d.isYear(2) || d.length(0) == 4 && d.length(2) <= 2 && d.isYear(0))
}

func (d *dialled) isYear(k int) bool {
	c := string(d.digits[d.start[k] : d.start[k]+2])
	return c == "19" || c == "20"
}
