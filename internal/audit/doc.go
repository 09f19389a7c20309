// Package audit is the trail of administrative actions as it can be verified: the
// row and its bytes, the chain of hashes through the rows of an organisation, the
// signed checkpoints on it, the export that carries all three, and the verifier that
// reads an export. docs/audit.md describes every byte for readers of other languages.
package audit
