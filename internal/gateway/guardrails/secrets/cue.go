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

// cuedAt finds a credential that begins at i and whose service is named before it.
func (s *scanner) cuedAt(i int) int {
	var services [8]string
	count, hasSecret := 0, false
	s.wordsBefore(i, func(word []byte) bool {
		hasSecret = hasSecret || secretWords[string(word)]
		if f, ok := cueIndex[string(word)]; ok && count < len(services) {
			services[count] = f[0].cue
			count++
		}
		return true
	})
	if !hasSecret {
		return 0
	}
	for _, service := range services[:count] {
		for _, f := range cueIndex[service] {
			if end := f.pattern.match(s.text, i); end > 0 && isRandom(s.text[i:end]) && hasDigit(s.text[i:end]) {
				return s.add(i, end, f.id)
			}
		}
	}
	return 0
}

// hasCue reports whether a word is before i, near enough.
func (s *scanner) hasCue(i int, cue string) (found bool) {
	s.wordsBefore(i, func(word []byte) bool {
		found = string(word) == cue
		return !found
	})
	return found
}

// wordsBefore calls yield for the words before i in lower case, the nearest first, until it returns
// false. Underscores separate words.
func (s *scanner) wordsBefore(i int, yield func(word []byte) bool) {
	var buf [maxCue]byte
	for end, start := i, max(0, i-cueBytes); end > start; {
		begin := end
		for begin > start && isLetter(s.text[begin-1]) {
			begin--
		}
		if begin == end {
			end--
			continue
		}
		if end-begin <= maxCue {
			for k := begin; k < end; k++ {
				b := s.text[k]
				if b-'A' <= 'Z'-'A' {
					b += 'a' - 'A'
				}
				buf[k-begin] = b
			}
			if !yield(buf[:end-begin]) {
				return
			}
		}
		end = begin
	}
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
