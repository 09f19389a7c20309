// Package sweep is what scheduled jobs use to go through stored records and to change those that
// are due, with a row in the audit trail. Start reading at Sweeper.
package sweep
