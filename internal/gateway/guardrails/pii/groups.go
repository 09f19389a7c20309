package pii

// Limits of groups.
const (
	maxGroups      = 9
	maxGroupDigits = 34
)

// groups are groups of digits with one separator between two of them: "4111 1111 1111 1111".
type groups struct {
	digits []byte // of all groups; in buf
	buf    [maxGroupDigits]byte
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
	return len(g.digits) - g.start[k]
}

// readGroups reads the groups that begin at i, separated by a space, hyphen or full stop.
func (s *scanner) readGroups(i int, g *groups) {
	g.digits = g.buf[:0]
	for g.count < maxGroups {
		first := len(g.digits)
		for i < len(s.text) && isDigit(s.text[i]) && len(g.digits) < maxGroupDigits {
			g.digits = append(g.digits, s.text[i])
			i++
		}
		if len(g.digits) == first {
			return
		}
		g.start[g.count], g.end[g.count] = first, i
		g.count++
		if i+1 >= len(s.text) || s.text[i] != ' ' && s.text[i] != '-' && s.text[i] != '.' || !isDigit(s.text[i+1]) {
			return
		}
		g.sep[g.count-1] = s.text[i]
		i++
	}
}
