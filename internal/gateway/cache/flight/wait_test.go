package flight_test

import "time"

// waitLimit ends a test that waits for what never happens.
const waitLimit = 30 * time.Second

// pause lets other goroutines run.
func pause() { time.Sleep(50 * time.Microsecond) }
