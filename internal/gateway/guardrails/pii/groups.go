package pii

// Limits of groups.
const (
	maxGroups      = 9
	maxGroupDigits = 34
)

// groups are groups of digits with one separator between two of them: "4111 1111 1111 1111".
type groups struct {
	digits [maxGroupDigits]byte // of all groups
	used   int
	start  [maxGroups]int // positions in digits
	end    [maxGroups]int // offsets in the text
	sep    [maxGroups]byte
	count  int
}

// size returns the number of digits of the first n groups.
func (g *groups) size(n int) int { return g.start[n-1] + g.length(n-1) }

// length returns the number of digits of a group.
func (g *groups) length(k int) int {
	if k+1 < g.count {
		return g.start[k+1] - g.start[k]
	}
	return g.used - g.start[k]
}

// number returns the digits of the first n groups. They are a part of g.
func (g *groups) number(n int) []byte { return g.digits[:g.size(n)] }

// readDigits reads the group of digits at i and returns its end.
func (g *groups) readDigits(text string, i int) int {
	g.start[g.count] = g.used
	for i < len(text) && isDigit(text[i]) && g.used < maxGroupDigits {
		g.digits[g.used] = text[i]
		g.used++
		i++
	}
	g.end[g.count] = i
	g.count++
	return i
}

// readGroups reads the groups that begin at i, separated by a space, hyphen or full stop.
func (s *scanner) readGroups(i int, g *groups) {
	for g.count < maxGroups && i < len(s.text) && isDigit(s.text[i]) {
		i = g.readDigits(s.text, i)
		if i+1 >= len(s.text) || s.text[i] != ' ' && s.text[i] != '-' && s.text[i] != '.' || !isDigit(s.text[i+1]) {
			return
		}
		g.sep[g.count-1] = s.text[i]
		i++
	}
}
