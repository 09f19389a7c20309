// Package jsonfield has the types and values of JSON bodies that several kinds of record use:
// switches, numbers, objects or null.
package jsonfield
