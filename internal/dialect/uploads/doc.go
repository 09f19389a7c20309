// Package uploads reads uploaded files and translates files of lines, one line at a time, so that their
// size does not matter. Start with Upload and LineReader.
package uploads
