package secrets

import (
	"strconv"
	"strings"
)

// format is the published form of the credentials of a service.
type format struct {
	id     string // "github"; several formats of a service share it
	prefix string // what the credential begins with, case-sensitive: "ghp_"
	// body is the pattern of the rest: classes with a number of characters, and other characters that
	// stand for themselves. Classes: 9 digits, h lower-case hexadecimal, H hexadecimal, a lower-case
	// letters and digits, A letters and digits, L letters, U capital letters and digits, w base64url, b
	// base64. "A{36}" is 36 letters or digits, "w{20,300}" 20 to 300. A class without braces is literal.
	body string
	// cue is a word in lower case that must be near, for forms that others share: "datadog". Empty for
	// none.
	cue string
	// valid verifies a checksum; nil for none.
	valid func(secret string) bool
	// source is the documentation of the form, with the date on which it was read. A form with a source
	// without a date was not compared with it.
	source string
}

// element is a part of a compiled body: characters of a class, or one literal byte.
type element struct {
	class    int  // its number, or literal
	byte     byte // the literal one
	low, top int
}

// literal is the class of an element that is one byte.
const literal = -1

type byteSet [256]bool

// pattern is a compiled body.
type pattern []element

// byteSets are the classes of bodies.
var byteSets = map[byte]*byteSet{
	'9': newByteSet("0-9"),
	'h': newByteSet("0-9a-f"),
	'H': newByteSet("0-9a-fA-F"),
	'a': newByteSet("0-9a-z"),
	'A': newByteSet("0-9a-zA-Z"),
	'L': newByteSet("a-zA-Z"),
	'U': newByteSet("0-9A-Z"),
	'w': newByteSet("0-9a-zA-Z_-"),
	'b': newByteSet("0-9a-zA-Z+/"),
	'p': newByteSet("0-9a-zA-Z%+/=_-"),
}

// newByteSet returns the set of a text such as "0-9a-z_".
func newByteSet(text string) *byteSet {
	var set byteSet
	for i := 0; i < len(text); i++ {
		from, to := text[i], text[i]
		if i+2 < len(text) && text[i+1] == '-' {
			to = text[i+2]
			i += 2
		}
		for b := int(from); b <= int(to); b++ {
			set[b] = true
		}
	}
	return &set
}

// compile compiles a body. It panics on an invalid one: bodies are constants.
func compile(body string) pattern {
	var p pattern
	for i := 0; i < len(body); i++ {
		set := byteSets[body[i]]
		if set == nil || i+1 == len(body) || body[i+1] != '{' {
			p = append(p, element{literal, body[i], 1, 1})
			continue
		}
		end := i + strings.IndexByte(body[i:], '}')
		low, top, isRange := strings.Cut(body[i+2:end], ",")
		if !isRange {
			top = low
		}
		e := element{class: strings.IndexByte(classNames, body[i])}
		var errLow, errTop error
		e.low, errLow = strconv.Atoi(low)
		e.top, errTop = strconv.Atoi(top)
		if errLow != nil || errTop != nil {
			panic("secrets: invalid body " + body)
		}
		p = append(p, e)
		i = end
	}
	return p
}

// match returns the end of the pattern that begins at i, or -1. Each element matches as much as it can.
func (p pattern) match(r *classRuns, i int) int {
	for _, e := range p {
		end := i
		if e.class != literal {
			end = r.end(e.class, i, e.top)
		} else if i < len(r.text) && r.text[i] == e.byte {
			end++
		}
		if end-i < e.low {
			return -1
		}
		i = end
	}
	if last := p[len(p)-1]; i < len(r.text) && (last.top > 1 && classSets[last.class][r.text[i]] || isAlnum(r.text[i])) {
		return -1 // longer than the form
	}
	return i
}

// minDistinct is the number of different characters that the random part of a credential has at least.
const minDistinct = 6

// isRandom reports whether a credential is not a placeholder such as "ghp_xxxxxxxx".
func isRandom(body string) bool {
	var seen byteSet
	missing := min(minDistinct, len(body)/2)
	for i := 0; i < len(body) && missing > 0; i++ {
		if !seen[body[i]] {
			seen[body[i]] = true
			missing--
		}
	}
	return missing <= 0
}
