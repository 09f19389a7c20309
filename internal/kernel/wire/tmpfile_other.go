//go:build !linux

package wire

import (
	"errors"
	"os"
)

// openTmpfile creates files without a name where the system supports it. This system does not.
func openTmpfile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
