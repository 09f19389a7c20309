package tokens

import "sluice/internal/splice"

// lastsMax is how many members lasts looks for at most.
const lastsMax = 8

// lastMembers are members of an object, nil for those that it has not. Of twins it takes the last,
// however their names are spelled, because that is what the parsers of providers do, and what
// is counted must be what they read. All are found in one pass over raw.
func lastMembers(raw []byte, names ...string) (vals [lastsMax][]byte) {
	for name, val := range splice.Members(raw) {
		for i, member := range names {
			if splice.IsName(name, member) {
				vals[i] = val
				break
			}
		}
	}
	return vals
}

// last is one member.
func last(raw []byte, name string) []byte { return lastMembers(raw, name)[0] }

// lastText is the text of a member, "" when it is none.
func lastText(raw []byte, name string) string { return text(last(raw, name)) }

func text(raw []byte) string {
	s, _ := splice.Unquote(raw)
	return s
}
