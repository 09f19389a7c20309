// Package background is how work that goes on beside requests waits (Sleep), goes on after
// a failure (Follow), comes to its end (Finish) and tells the log of its Trouble.
package background
