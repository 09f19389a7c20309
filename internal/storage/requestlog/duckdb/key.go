package duckdb

import (
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"
)

// oddIDs is the name space of ids that are not UUIDs.
var oddIDs = uuid.MustParse("5f2c7a0e-9b64-4a52-8c1d-3e0f6b7a9d10")

// keyOf returns the 16 bytes under which an id is stored: those of a UUID, zeros for the empty
// id, and for any other id a UUID derived from its text, which is then copied into odd. Equal ids
// have equal keys. odd may be nil.
func keyOf(id string, odd *string) duckdb.UUID {
	if id == "" {
		return duckdb.UUID{}
	}
	if u, err := uuid.Parse(id); err == nil && canonical(id) && u != uuid.Nil {
		return duckdb.UUID(u)
	}
	if odd != nil {
		*odd = id
	}
	return duckdb.UUID(uuid.NewSHA1(oddIDs, []byte(id)))
}

// textOf is the inverse of keyOf.
func textOf(key duckdb.UUID, odd string) string {
	if odd != "" || key == (duckdb.UUID{}) {
		return odd
	}
	return uuid.UUID(key).String()
}

// canonical reports whether a UUID is written as String writes it.
func canonical(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		if 'A' <= id[i] && id[i] <= 'F' {
			return false
		}
	}
	return true
}

// keyParam returns the key of an id in the form that the driver binds.
func keyParam(id string) *duckdb.UUID {
	key := keyOf(id, nil)
	return &key
}
