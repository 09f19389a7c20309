// Package audit implements the verifiable trail of administrative actions. It defines the
// row and its encoding, the hash chain through the rows of an organisation, the signed
// checkpoints, the export that contains all three, and the verifier that reads an export.
// docs/audit.md describes every byte for implementations in other languages.
package audit
