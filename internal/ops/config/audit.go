package config

import "time"

// Audit sets the retention and the checkpoints of the audit log. `AUDIT_LOGS_ENABLED=OFF`
// disables the log.
type Audit struct {
	// RetentionDays is the number of days after which audit rows are deleted. With 0 they
	// are never deleted. The remaining rows can still be verified.
	RetentionDays int `env:"AUDIT_LOG_RETENTION_DAYS" envDefault:"0" range:"0..36500"`

	// CheckpointRows is the number of rows after which the gateway signs a checkpoint.
	CheckpointRows int `env:"AUDIT_CHECKPOINT_ROWS" envDefault:"1000" range:"1..100000"`

	// CheckpointInterval is the time after which the gateway signs a checkpoint, if there
	// are new rows. It also signs one when it stops.
	CheckpointInterval time.Duration `env:"AUDIT_CHECKPOINT_INTERVAL" envDefault:"600000" range:"1000..86400000"`
}
