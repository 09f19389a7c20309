package modellist

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	"sluice/internal/domain/credential"
)

// SourceOf returns the source of a saved provider's list. Providers of one integration share a
// list, unless secret managers supply their credentials, which may differ by workspace.
func SourceOf(workspace string, a *credential.Account) Source {
	s := Source{ID: cmp.Or(a.RecordID, workspace+"/"+a.Slug), Workspace: workspace, Provider: a.Slug}
	if a.IntegrationID != "" && len(a.Secrets) == 0 {
		s.ID = a.IntegrationID
	}
	h := sha256.New()
	hashText(h, a.Spec)
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		hashText(h, name)
		hashText(h, a.Values[name])
	}
	for i := range a.Secrets {
		u := &a.Secrets[i]
		hashText(h, u.Field)
		hashText(h, u.Key)
		if u.Source != nil {
			hashText(h, u.Source.RecordID)
			_ = binary.Write(h, binary.LittleEndian, u.Source.Revision) // a hash write cannot fail
		}
	}
	h.Sum(s.Version[:0])
	return s
}

func hashText(h hash.Hash, text string) {
	_ = binary.Write(h, binary.LittleEndian, int64(len(text))) // a hash write cannot fail
	_, _ = h.Write([]byte(text))
}
