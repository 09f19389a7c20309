package defaults

import (
	"sluice/internal/kernel/fault"
)

// maxMetadata is the maximum length of a metadata value, in characters.
// Source: contract/content-and-observability.md 3.3.
const maxMetadata = 128

// maxDefaultPairs is the maximum number of metadata pairs of a key and of a workspace. A request
// contains no more than that in total.
const maxDefaultPairs = 64

// CheckMetadata checks the default metadata of a key or a workspace; errors name path.
func CheckMetadata(m map[string]string, path string) error {
	if len(m) > maxDefaultPairs {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d metadata pairs", maxDefaultPairs).WithParam(path)
	}
	for name, v := range m {
		if name == "" || len(name) > MaxMetadataKey || len([]rune(v)) > maxMetadata {
			return fault.Newf(fault.InvalidParameter, "metadata values must not exceed %d characters; names must have 1 to %d bytes", maxMetadata, MaxMetadataKey).WithParam(path)
		}
	}
	return nil
}

// MaxMetadataKey is the maximum length of the name of a metadata pair, in bytes.
// Source: ours.
const MaxMetadataKey = 256
