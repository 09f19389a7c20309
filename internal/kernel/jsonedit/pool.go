package jsonedit

import "sync"

// docs contains the returned indexes.
var docs = sync.Pool{New: func() any { return new(Doc) }}

// GetDoc returns an index from the pool, ready for Scan. The caller owns it until PutDoc, and
// does not have to return it.
func GetDoc() *Doc { return docs.Get().(*Doc) }

// PutDoc returns an index to the pool. The caller must not use it afterwards.
func PutDoc(d *Doc) { docs.Put(d) }
