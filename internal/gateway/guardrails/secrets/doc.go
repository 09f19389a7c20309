// Package secrets finds credentials in texts: keys and tokens in the published formats of services,
// private keys, JSON Web Tokens, passwords in URLs, and values that are assigned to names such as
// "password". It works inside the gateway: no text leaves it, and results never quote what was found.
//
// The formats are data: a prefix, a pattern of the rest, sometimes a checksum, and the source. A scanner
// passes over a text once. An index of the first two bytes selects the formats that can begin at a word;
// patterns do not backtrack, so that the time is linear in the text.
//
// Start reading at format in format.go, then scanner.scan. To add a format, add a row to one of the
// formats*.go files and a line to testdata/texts.tsv.
package secrets
