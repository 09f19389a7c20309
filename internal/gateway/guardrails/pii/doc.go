// Package pii finds personal data in texts: e-mail addresses, phone numbers, postal addresses, names,
// IP addresses, payment cards, US social security numbers, IBANs and national ids. It works inside the
// gateway: no text leaves it.
//
// A scanner passes over a text once. Bytes that can begin a finding select a matcher: digits those of
// numbers, "@" that of e-mail addresses, capital letters those of names. Matchers read a bounded number
// of bytes, so that the time is linear in the text. Checksums, formats and the words around a number
// decide; word lists and titles decide about names. Languages with own words and formats are English,
// German and Spanish; FIGURES.md has the measured precision and recall.
//
// Start reading at runner.Run in check.go, then scanner.scan.
package pii
