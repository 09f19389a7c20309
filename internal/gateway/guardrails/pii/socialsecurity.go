package pii

// ssnAt finds the social security number of the United States that begins at i. Hyphens suffice as a
// sign of one; other forms need a word such as "SSN" before them.
// Source: Social Security Administration, "Social Security Number Randomization": areas 000, 666 and
// 900 to 999, group 00 and serial 0000 are not assigned.
func (s *scanner) ssnAt(i int) (start, end int, ok bool) {
	if !s.startsToken(i) {
		return 0, 0, false
	}
	var g groups
	s.readGroups(i, &g)
	n := 1
	if g.hasSSNGroups() {
		n = 3
	}
	if g.size(n) != 9 || !isAssigned(g.digits[:9]) {
		return 0, 0, false
	}
	end = g.end[n-1]
	return i, end, s.endsToken(end) && s.isSSN(i, end, n == 3 && g.sep[0] == '-')
}

// hasSSNGroups reports whether groups of three, two and four digits come first.
func (g *groups) hasSSNGroups() bool {
	return g.count >= 3 && g.length(0) == 3 && g.length(1) == 2 && g.length(2) == 4 && g.sep[0] == g.sep[1]
}

// isSSN reports whether the words around a number permit that it is a social security number.
func (s *scanner) isSSN(i, end int, hyphens bool) bool {
	all, nearest := s.cuesBefore(i)
	named := all&cueSSN != 0
	switch {
	case hyphens:
		return (named || nearest&cueOrder == 0) && s.endsHouse(end)
	case named && nearest&^(cueSSN|cueID|cueCard) == 0:
		return true
	}
	return nearest&cueOrder == 0 && s.cuesAfter(end)&cueSSN != 0
}

func isAssigned(d []byte) bool {
	area := string(d[:3])
	return area != "000" && area != "666" && area[0] != '9' && string(d[3:5]) != "00" && string(d[5:]) != "0000"
}
