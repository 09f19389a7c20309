//go:build !linux

package redistest

import "syscall"

// diesWithUs has no counterpart here: t.Cleanup must do.
func diesWithUs() *syscall.SysProcAttr { return nil }
