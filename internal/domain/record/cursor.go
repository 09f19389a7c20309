package record

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"sluice/internal/kernel/fault"
)

// Cursor identifies a row of a sorted list, so that the next page begins after it however many
// rows were added meanwhile. It is a URL-safe string that is opaque to clients. Times in it
// are whole microseconds, as in the log store.
type Cursor string

// maxCursor is the maximum length of a cursor from a client.
const maxCursor = 512

// CursorAt returns the cursor of a row with this start and id.
func CursorAt(started time.Time, id string) Cursor {
	b := binary.BigEndian.AppendUint64(nil, uint64(started.UnixMicro()))
	return Cursor(base64.RawURLEncoding.EncodeToString(append(b, id...)))
}

// Split returns the arguments of CursorAt, or fault.InvalidParameter.
func (c Cursor) Split() (started time.Time, id string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(string(c[:min(len(c), maxCursor+1)]))
	if err != nil || len(c) > maxCursor || len(b) <= 8 {
		return time.Time{}, "", fault.New(fault.InvalidParameter, "unknown cursor; use the cursor of a previous page").WithParam("after")
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC(), string(b[8:]), nil
}
