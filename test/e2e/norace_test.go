//go:build !race

package e2e

// likeTests builds the program as it is used, without the race detector.
var likeTests []string
