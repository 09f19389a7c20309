package placeholder

import (
	"encoding/binary"
	"errors"
	"time"
)

// errCorrupt means that a stored vault is not in the format of encode.
var errCorrupt = errors.New("stored placeholders are corrupt")

// encode returns the stored format of entries: the expiry in Unix seconds (8 bytes), then kind,
// placeholder and value of each entry, each with its length as a varint.
func encode(entries []entry, expires time.Time) []byte {
	out := binary.BigEndian.AppendUint64(nil, uint64(expires.Unix())) //nolint:gosec // after 1970
	for _, e := range entries {
		for _, part := range [...]string{e.kind, e.name, e.value} {
			out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
		}
	}
	return out
}

// decode is the inverse of encode.
func decode(data []byte) (entries []entry, expires time.Time, err error) {
	if len(data) < 8 {
		return nil, expires, errCorrupt
	}
	expires = time.Unix(int64(binary.BigEndian.Uint64(data)), 0) //nolint:gosec // encode's own
	for data = data[8:]; len(data) > 0; {
		var parts [3]string
		for i := range parts {
			n, width := binary.Uvarint(data)
			if width <= 0 || n > uint64(len(data)-width) {
				return nil, expires, errCorrupt
			}
			data = data[width:]
			parts[i], data = string(data[:n]), data[n:]
		}
		entries = append(entries, entry{kind: parts[0], name: parts[1], value: parts[2]})
	}
	return entries, expires, nil
}
