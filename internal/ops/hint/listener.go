package hint

import (
	"errors"
	"fmt"
	"syscall"
)

// Listener adds to an error of listening what to do about it, with the names of the settings that
// choose another address.
func Listener(err error) error {
	hint := "choose another address with --listen and --port, or LISTEN and PORT"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "stop the program that listens there, or " + hint
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "this machine does not have that address: " + hint
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 require a privilege (CAP_NET_BIND_SERVICE): " + hint
	}
	return fmt.Errorf("%w; %s", err, hint)
}
