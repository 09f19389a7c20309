package embedding

// Tokens returns the ids of the vocabulary entries that spell a text.
func (m *Model) Tokens(text string) []int {
	var out []int
	var ids [maxWordRunes]uint16
	s := scanner{text: truncate(text)}
	for s.next() {
		for _, id := range m.vocabulary.split(s.word(), &ids) {
			out = append(out, int(id))
		}
	}
	return out
}

// Entries returns the number of vocabulary entries, of rows and of scales.
func (m *Model) Entries() (vocabulary, rows, scales int) {
	return len(m.vocabulary.starts) - 1, len(m.rows) / Dimensions, len(m.scales) / 4
}
