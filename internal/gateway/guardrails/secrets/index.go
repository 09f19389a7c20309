package secrets

import "slices"

// prefixed is a format with its compiled body.
type prefixed struct {
	*format
	pattern pattern
}

// bucket has the formats whose prefixes begin with the same two bytes.
type bucket struct {
	second  byte
	formats []prefixed // longer prefixes first
}

// prefixIndex has the formats with a prefix by its first byte.
var prefixIndex = func() (index [256][]bucket) {
	for i := range formats {
		f := &formats[i]
		if f.prefix == "" {
			continue
		}
		buckets := &index[f.prefix[0]]
		at := slices.IndexFunc(*buckets, func(b bucket) bool { return b.second == f.prefix[1] })
		if at < 0 {
			at = len(*buckets)
			*buckets = append(*buckets, bucket{second: f.prefix[1]})
		}
		b := &(*buckets)[at]
		b.formats = append(b.formats, prefixed{f, compile(f.body)})
		slices.SortStableFunc(b.formats, func(x, y prefixed) int { return len(y.prefix) - len(x.prefix) })
	}
	return index
}()

// cueIndex has the formats without a prefix by their cue.
var cueIndex = func() map[string][]prefixed {
	index := make(map[string][]prefixed)
	for i := range cuedFormats {
		f := &cuedFormats[i]
		index[f.cue] = append(index[f.cue], prefixed{f, compile(f.body)})
	}
	return index
}()

// infixIndex has the compiled bodies of infixFormats, in their order.
var infixIndex = func() []pattern {
	patterns := make([]pattern, len(infixFormats))
	for i := range infixFormats {
		patterns[i] = compile(infixFormats[i].body)
	}
	return patterns
}()
