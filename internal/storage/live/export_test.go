package live

import (
	"slices"

	"sluice/internal/domain/keys"
)

// Keys are all keys of the snapshot by their hash.
func (s *Snapshot) Keys() map[keys.Hash]*keys.Entry {
	all := make(map[keys.Hash]*keys.Entry)
	for _, leaf := range s.keys {
		for h, e := range leaf {
			all[h] = e
		}
	}
	return all
}

// Unassembled are the followed kinds that no section is made of.
func Unassembled() (kinds []string) {
	for kind := range decoders {
		if !slices.ContainsFunc(sections, func(s section) bool { return slices.Contains(s.kinds, kind) }) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
