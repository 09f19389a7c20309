//go:build !linux

package load

import "time"

func preciseSleep() {}

func nap(d time.Duration) { time.Sleep(d) }
