// Package disktest gives tests a disk that is really full. It works on Linux alone.
package disktest
