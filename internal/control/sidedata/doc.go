// Package sidedata stores data that the gateway discovers about a record: the card of an agent,
// the self-description of a tool server, the health of a gateway. It is in a link of the record
// to itself, so storing it is not a change of the record.
package sidedata
