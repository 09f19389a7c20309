package pii

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"strings"
	"sync"
)

// The lists of names. Sources: names/README.md.
//
//go:embed names/*.gz
var nameFiles embed.FS

// nameKind is what a word can be; a word may be several.
type nameKind uint8

const (
	givenName nameKind = 1 << iota
	surname
	plainWord // an ordinary word, place or brand too: "Rose", "Paris"
	excluded  // not a part of a name, although it may follow one
	weakTitle // precedes known names: "Captain"
	strongTitle
)

const anyTitle = weakTitle | strongTitle

// nameKinds returns the table of names in lower case. It is built at the first use of the category NAME.
var nameKinds = sync.OnceValue(func() map[string]nameKind {
	table := make(map[string]nameKind, 32_000)
	addWords(table, "names/given.txt.gz", givenName)
	addWords(table, "names/surnames.txt.gz", surname)
	addWords(table, "names/words.txt.gz", plainWord)
	for _, w := range strings.Fields(usualGivenNames) {
		table[w] = table[w]&^plainWord | givenName
	}
	addSet(table, notNames, excluded)
	addSet(table, weakTitles, weakTitle)
	addSet(table, strongTitles, strongTitle)
	return table
})

func addSet(table map[string]nameKind, words map[string]bool, kind nameKind) {
	for w := range words {
		table[w] |= kind
	}
}

// usualGivenNames are given names although dictionaries have them as words too.
const usualGivenNames = `john david lisa brad enrique peter jane anna maria tom tim jenny harry larry jerry barry carol kelly
	kim alan neil martin robin dana terry joan laura clara diana elena lucía sofía marco mario paul paula sara jim billy nelly
	nina tony gabriel jerónimo chuck beatriz ramón maría josé luis andrés`

func addWords(table map[string]nameKind, file string, kind nameKind) {
	packed, err := nameFiles.ReadFile(file)
	if err != nil {
		panic(err) // the file is embedded
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	words, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	for w := range strings.FieldsSeq(string(words)) {
		table[w] |= kind
	}
}
