package jsonfield

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// FromMillis converts milliseconds since 1970 to a time in UTC.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// Number is a decimal number that has never been a float.
type Number string

// Schema describes Number.
func (Number) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

// MarshalJSON writes the number unchanged.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// ParseTime returns the zero time for an empty string; the format was checked before.
func ParseTime(v string) time.Time {
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
