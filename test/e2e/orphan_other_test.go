//go:build !linux

package e2e

import "syscall"

// diesWithUs has no counterpart here: t.Cleanup must do.
func diesWithUs() *syscall.SysProcAttr { return nil }
