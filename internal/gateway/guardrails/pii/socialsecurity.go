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
	separated := g.count >= 3 && g.length(0) == 3 && g.length(1) == 2 && g.length(2) == 4 && g.sep[0] == g.sep[1]
	n := 1
	if separated {
		n = 3
	}
	if g.count == 0 || g.size(n) != 9 || !s.endsToken(g.end[n-1]) || !isAssigned(g.digits[:9]) {
		return 0, 0, false
	}
	all, nearest := s.cuesBefore(i)
	end = g.end[n-1]
	if separated && g.sep[0] == '-' {
		return i, end, (nearest&cueOrder == 0 || all&cueSSN != 0) && s.endsHouse(end)
	}
	return i, end, all&cueSSN != 0 && nearest&^(cueSSN|cueID|cueCard) == 0 || nearest&cueOrder == 0 && s.cuesAfter(end)&cueSSN != 0
}

func isAssigned(d []byte) bool {
	area := string(d[:3])
	return area != "000" && area != "666" && area[0] != '9' && string(d[3:5]) != "00" && string(d[5:]) != "0000"
}
