// Package narrow gives tests connections with little room on both sides, so that a client
// that does not read is felt after a few kilobytes. Linux only, as the tests are.
package narrow
