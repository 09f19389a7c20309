package secrets

// Limits of credentials without a prefix.
const (
	minCuedWord = 14
	cueBytes    = 64 // text before a credential in which the name of its service counts
	maxCue      = 16 // length of the longest cue
)

// secretWords are words that names of credentials contain; one must be near a credential that has no
// prefix.
var secretWords = map[string]bool{
	"key": true, "keys": true, "token": true, "secret": true, "password": true, "passwd": true, "auth": true, "credential": true, "credentials": true,
	"apikey": true, "pat": true, "bearer": true, "schlüssel": true, "clave": true, "geheimnis": true, "accesskey": true, "secretkey": true,
}

// maxServices bounds the names of services that are tried for one credential.
const maxServices = 8

// cuedAt finds a credential that begins at i and whose service is named before it.
func (s *scanner) cuedAt(i int) int {
	var services [maxServices][]prefixed
	count, hasSecret := 0, false
	s.cues.before(i, func(c *cue) bool {
		hasSecret = hasSecret || c.secret
		if len(c.formats) > 0 && count < len(services) {
			services[count] = c.formats
			count++
		}
		return true
	})
	if !hasSecret {
		return 0
	}
	for k, service := range services[:count] {
		if k > 0 && service[0].cue == services[k-1][0].cue {
			continue // was tried
		}
		for _, f := range service {
			if end := f.pattern.match(&s.runs, i); end > 0 && isRandom(s.text[i:end]) && hasDigit(s.text[i:end]) {
				return s.add(i, end, f.id)
			}
		}
	}
	return 0
}

// hasCue reports whether a word is before i, near enough.
func (s *scanner) hasCue(i int, word string) (found bool) {
	s.cues.before(i, func(c *cue) bool {
		found = c.word == word
		return !found
	})
	return found
}

// cue is a word that counts before a credential.
type cue struct {
	word    string     // in lower case
	secret  bool       // it is in secretWords
	formats []prefixed // those without a prefix that the word names
}

// cueWords are the cues by their words.
var cueWords = func() map[string]*cue {
	words := make(map[string]*cue)
	add := func(word string) {
		if words[word] == nil {
			words[word] = &cue{word: word, secret: secretWords[word], formats: cueIndex[word]}
		}
	}
	for word := range secretWords {
		add(word)
	}
	for i := range formats {
		add(formats[i].cue)
	}
	for i := range infixFormats {
		add(infixFormats[i].cue)
	}
	return words
}()

// cueReader finds the cues before an offset. It reads each word of a text once, whatever number of
// credentials may begin near it.
type cueReader struct {
	text string
	read int        // the words that begin before it were read
	seen []foundCue // those of the last cueMemory bytes, and a few before
}

// foundCue is a cue in a text.
type foundCue struct {
	at int
	*cue
}

// cueMemory is the number of bytes in which cues are remembered. A scan goes back by less than
// cueMemory-cueBytes bytes.
const cueMemory = 4 * cueBytes

// before calls yield for the cues in the text before i, the nearest first, until it returns false. Letters
// make a word; a word of which only a part is within cueBytes, or before i, counts as that part.
func (r *cueReader) before(i int, yield func(*cue) bool) {
	r.readTo(i)
	start, last := max(0, i-cueBytes), i
	for last > start && i-last <= maxCue && isLetter(r.text[last-1]) {
		last--
	}
	if c := cueOf(r.text[last:i]); c != nil && !yield(c) {
		return
	}
	for k := len(r.seen) - 1; k >= 0 && r.seen[k].at >= start; k-- {
		if r.seen[k].at < last && !r.isCut(r.seen[k].at, start) && !yield(r.seen[k].cue) {
			return
		}
	}
	if !r.isCut(start, start) {
		return
	}
	end := start
	for end < last && end-start <= maxCue && isLetter(r.text[end]) {
		end++
	}
	if c := cueOf(r.text[start:end]); c != nil {
		yield(c)
	}
}

// isCut reports whether the word at an offset is the rest of one that begins before start.
func (r *cueReader) isCut(at, start int) bool {
	return at == start && at > 0 && isLetter(r.text[at-1])
}

// readTo reads the words that begin before i.
func (r *cueReader) readTo(i int) {
	if i > r.read+cueMemory && !isLetter(r.text[i-cueMemory]) {
		r.read = i - cueMemory // nothing before it counts
	}
	for r.read < i {
		if !isLetter(r.text[r.read]) {
			r.read++
			continue
		}
		begin := r.read
		for r.read < len(r.text) && isLetter(r.text[r.read]) {
			r.read++
		}
		if c := cueOf(r.text[begin:r.read]); c != nil {
			r.add(foundCue{begin, c})
		}
	}
}

// add remembers a cue and forgets those that are too far away.
func (r *cueReader) add(c foundCue) {
	if len(r.seen) == cap(r.seen) {
		n := 0
		for n < len(r.seen) && r.seen[n].at < c.at-cueMemory {
			n++
		}
		r.seen = r.seen[:copy(r.seen, r.seen[n:])]
	}
	r.seen = append(r.seen, c)
}

// cueOf returns the cue that is a word in any case, nil for none.
func cueOf(word string) *cue {
	if len(word) < 2 || len(word) > maxCue {
		return nil
	}
	var buf [maxCue]byte
	for k := range len(word) {
		b := word[k]
		if isUpperByte(b) {
			b += 'a' - 'A'
		}
		buf[k] = b
	}
	return cueWords[string(buf[:len(word)])]
}

func isLetter(b byte) bool { return b-'a' <= 'z'-'a' || b-'A' <= 'Z'-'A' || b >= 0x80 }

func hasDigit(text string) bool {
	for i := range len(text) {
		if text[i]-'0' <= 9 {
			return true
		}
	}
	return false
}
