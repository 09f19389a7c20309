// Package jsonedit changes request and response bodies without decoding them: it removes
// or inserts a few bytes and copies every other byte unchanged. Start with Scan, which
// indexes a JSON object, and Doc.Apply, which changes it. Multipart forms are in
// package multipartedit.
//
// The package has no mutable global state except pools of buffers. Returned slices point
// into the caller's bytes: they are valid as long as those are, and must not be changed.
package jsonedit
