package linear

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// MaxConcepts is the number of concepts that a lexicon can have.
const MaxConcepts = 64

// Lexicon maps words and phrases to concepts. It is immutable and safe for concurrent use.
type Lexicon struct {
	names []string
	nodes []node
}

// node is a prefix of the words of a lexicon.
type node struct {
	next   [symbols]uint16 // node after each symbol; 0 for none
	exact  uint64          // concepts of the words that end here, one bit each
	prefix uint64          // concepts of all words that begin so
}

// symbols are the letters, the space, and one for numbers.
const symbols = 28

// symbolOf returns the position of a byte of a sentence in node.next; symbols for others.
func symbolOf(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return int(c - 'a')
	case c == ' ':
		return 26
	case c == '0':
		return 27
	}
	return symbols
}

// ReadLexicon reads lines of a concept, a tab, and words or phrases separated by commas. A star at the end of
// a word makes it the beginning of words: "insult*". Lines that begin with # are comments. Several lines may
// have the same concept.
func ReadLexicon(data []byte) (*Lexicon, error) {
	l := &Lexicon{nodes: make([]node, 1)}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		name, words, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("lexicon line %d has no tab after the concept", n)
		}
		bit, err := l.concept(name)
		if err != nil {
			return nil, fmt.Errorf("lexicon line %d: %w", n, err)
		}
		for word := range strings.SplitSeq(words, ",") {
			if err := l.add(bit, word); err != nil {
				return nil, fmt.Errorf("lexicon line %d: %w", n, err)
			}
		}
	}
	return l, lines.Err()
}

// concept returns the position of a concept, and adds it if it is new.
func (l *Lexicon) concept(name string) (int, error) {
	if i := l.Index(name); i >= 0 {
		return i, nil
	}
	if len(l.names) == MaxConcepts {
		return 0, fmt.Errorf("more than %d concepts", MaxConcepts)
	}
	l.names = append(l.names, name)
	return len(l.names) - 1, nil
}

// Index returns the position of a concept; -1 if there is none of that name.
func (l *Lexicon) Index(name string) int {
	for i, known := range l.names {
		if known == name {
			return i
		}
	}
	return -1
}

// Names returns the concepts in their order. The result must not be changed.
func (l *Lexicon) Names() []string { return l.names }

// add adds a word or phrase.
func (l *Lexicon) add(concept int, word string) error {
	word = strings.TrimSpace(word)
	stem, isPrefix := strings.CutSuffix(word, "*")
	s := splitter{text: stem}
	plain, _ := s.next()
	plain = bytes.TrimSpace(plain)
	if len(plain) == 0 {
		return fmt.Errorf("the word %q has no letters", word)
	}
	at := uint16(0)
	for _, c := range plain {
		k := symbolOf(c)
		if k == symbols {
			return fmt.Errorf("the word %q has letters outside of a to z", word)
		}
		if l.nodes[at].next[k] == 0 {
			if len(l.nodes) == 1<<16 {
				return fmt.Errorf("the lexicon is too large")
			}
			l.nodes = append(l.nodes, node{})
			l.nodes[at].next[k] = uint16(len(l.nodes) - 1)
		}
		at = l.nodes[at].next[k]
	}
	if isPrefix {
		l.nodes[at].prefix |= 1 << concept
	} else {
		l.nodes[at].exact |= 1 << concept
	}
	return nil
}

// match returns the concepts of the words and phrases that begin at the start of s, which follows a space.
func (l *Lexicon) match(s []byte) (found uint64) {
	at := uint16(0)
	for i, c := range s {
		k := symbolOf(c)
		if k == symbols {
			return found
		}
		if at = l.nodes[at].next[k]; at == 0 {
			return found
		}
		n := &l.nodes[at]
		found |= n.prefix
		if n.exact != 0 && i+1 < len(s) && s[i+1] == ' ' {
			found |= n.exact
		}
	}
	return found
}
