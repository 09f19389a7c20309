// Package secretmapping reads and shows the secret mappings of a record: which of its fields come
// from an external secret manager, by secret reference.
package secretmapping
