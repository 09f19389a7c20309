package entry

import (
	"encoding/binary"
	"fmt"
	"time"

	"sluice/internal/gateway/cache/cachekey"
)

// Head is the part of an envelope that is not sealed. It shows when the entry was created and
// when it expires, and hashes of its tags.
type Head struct {
	Created time.Time
	Expires time.Time
	Digests Digests
}

// HeadBytes is the size of an encoded Head: magic (3 bytes), version, created and expires in
// milliseconds (8 bytes each), and the digests.
const HeadBytes = 4 + 8 + 8 + tagCount*digestBytes

// magic begins every envelope.
const magic = "slc\x01"

// Envelope encodes an entry for a store outside of the process: its head, and after it the sealed
// entry. It is not sealed if s is nil. The key is authenticated, so an envelope that was moved to
// another key does not open.
func Envelope(s Sealer, key cachekey.Key, e *Entry) ([]byte, error) {
	head := make([]byte, 0, HeadBytes+int(e.Size()))
	head = append(head, magic...)
	head = binary.BigEndian.AppendUint64(head, uint64(e.Created.UnixMilli()))
	head = binary.BigEndian.AppendUint64(head, uint64(e.Expires.UnixMilli()))
	for _, d := range e.Tags.Digests() {
		head = append(head, d[:]...)
	}
	if s == nil {
		return e.Append(head)
	}
	plain, err := e.Append(make([]byte, 0, e.Size()))
	if err != nil {
		return nil, err
	}
	secret, err := s.Seal(plain, context(head, key))
	if err != nil {
		return nil, fmt.Errorf("seal the cache entry: %w", err)
	}
	return append(head, secret...), nil
}

// context binds the sealed entry to its key and its head.
func context(head []byte, key cachekey.Key) string {
	return "cache/" + string(key[:]) + string(head)
}

// ReadHead reads the first HeadBytes of an envelope.
func ReadHead(b []byte) (h Head, err error) {
	if len(b) < HeadBytes || string(b[:len(magic)]) != magic {
		return h, fmt.Errorf("head: %w", ErrCorrupt)
	}
	h.Created = time.UnixMilli(int64(binary.BigEndian.Uint64(b[4:]))).UTC()
	h.Expires = time.UnixMilli(int64(binary.BigEndian.Uint64(b[12:]))).UTC()
	for i := range h.Digests {
		copy(h.Digests[i][:], b[20+i*digestBytes:])
	}
	return h, nil
}

// Open decodes an envelope. The entry may point into b, which must not change. An error means
// that the envelope is of no use: it is corrupt, of another key, or sealed with an unknown key.
func Open(s Sealer, key cachekey.Key, b []byte) (*Entry, error) {
	if _, err := ReadHead(b); err != nil {
		return nil, err
	}
	plain := b[HeadBytes:]
	if s != nil {
		var err error
		if plain, err = s.Open(plain, context(b[:HeadBytes], key)); err != nil {
			return nil, fmt.Errorf("open the cache entry: %w", err)
		}
	}
	return Decode(plain)
}
