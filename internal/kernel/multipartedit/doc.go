// Package multipartedit reads multipart/form-data bodies and edits their fields. All bytes that
// an edit does not change stay equal, and file contents stay in the spool. Start reading at Read
// and Form.Edit.
package multipartedit
