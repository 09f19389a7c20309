// Package splice changes request and response bodies without decoding them: a few
// bytes are cut out or put in, every other byte stays as it came. JSON objects are
// indexed by Scan and changed by Doc.Apply; multipart forms are indexed by ReadForm
// and changed by Form.Edit.
//
// Nothing here keeps global state. Slices handed out point into the bytes that were
// given in, so they live as long as those do and must not be written to.
package splice
