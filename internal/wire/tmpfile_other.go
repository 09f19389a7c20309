//go:build !linux

package wire

import (
	"errors"
	"os"
)

// openTmpfile makes files without a name where the system can; here it cannot.
func openTmpfile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
