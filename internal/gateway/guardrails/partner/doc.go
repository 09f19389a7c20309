// Package partner contains the checks that external services make. Each partner is a file in specs/:
// address, header fields, body, verdict, redaction, limits, source and date. The package compiles the
// files at start and runs them. It has code of its own only where data cannot describe a partner: the
// address in a token (acuvity), tokens of Microsoft Entra (azure), a parameter with two parts
// (patronus) and search results that are added to a prompt (exa, tavily).
//
// It does not dial: check.Services does, and checks each address. It does not store credentials: the
// parameters of a check contain them, and they never appear in results.
//
// Start reading at List, then spec.go for the format of the files, template.go for bodies, rule.go for
// verdicts, and runner.go for a run. README.md describes how to add a partner, PARTNERS.md lists them.
package partner
