package prompt

// withoutTrailing takes commas away that stand before the end of a list or object, as
// sections leave them: [{"a":1},]. Text in strings stays. The result may share
// its bytes with raw.
func withoutTrailing(raw []byte) []byte {
	out := raw[:0:0]
	from := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case ',':
			if next := afterSpace(raw, i+1); next == ']' || next == '}' {
				out = append(out, raw[from:i]...)
				from = i + 1
			}
		}
	}
	if from == 0 {
		return raw
	}
	return append(out, raw[from:]...)
}

// afterSpace is the next byte that is not a space, 0 at the end.
func afterSpace(raw []byte, i int) byte {
	for ; i < len(raw); i++ {
		switch raw[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return raw[i]
		}
	}
	return 0
}
