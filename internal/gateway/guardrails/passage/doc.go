// Package passage finds the texts of request and response bodies and replaces them in the original
// bytes. All other bytes stay equal. Start with Request and Body; forms.go describes where the
// texts of each endpoint are, and walker.go reads a body along these forms.
package passage
