package check

import "sync"

// inParallel calls do for 0 to n-1, with at most a number of calls at the same time, and returns when all
// have returned.
func inParallel(n, maxCalls int, do func(i int)) {
	var wait sync.WaitGroup
	for worker := range min(maxCalls, n) {
		wait.Go(func() {
			for i := worker; i < n; i += maxCalls {
				do(i)
			}
		})
	}
	wait.Wait()
}
