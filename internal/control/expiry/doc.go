// Package expiry has the rules for records that expire: keys, providers and virtual keys.
package expiry
