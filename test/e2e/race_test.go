//go:build race

package e2e

// likeTests builds the program with the race detector that the tests have. What it finds
// fails the test that started the program.
var likeTests = []string{"-race"}
