//go:build !linux

package wire

import (
	"errors"
	"os"
)

// nameless makes files without a name where the system can; here it cannot.
func nameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }
