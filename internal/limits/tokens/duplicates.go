package tokens

import "sluice/internal/kernel/jsonedit"

// lastsMax is the maximum number of members that lastMembers returns.
const lastsMax = 8

// lastMembers returns members of an object, nil for missing ones. Of duplicates it returns the
// last, however their names are spelled, because providers' parsers do so, and the count must
// match what they read. It finds all members in one pass over raw.
func lastMembers(raw []byte, names ...string) (vals [lastsMax][]byte) {
	for name, val := range jsonedit.Members(raw) {
		for i, member := range names {
			if jsonedit.IsName(name, member) {
				vals[i] = val
				break
			}
		}
	}
	return vals
}

// last returns one member.
func last(raw []byte, name string) []byte { return lastMembers(raw, name)[0] }

// lastText returns the text of a member, "" if it is not a string.
func lastText(raw []byte, name string) string { return text(last(raw, name)) }

func text(raw []byte) string {
	s, _ := jsonedit.Unquote(raw)
	return s
}
