package config

import "time"

// Audit says how the audit log is kept. AUDIT_LOGS_ENABLED switches it off.
type Audit struct {
	// RetentionDays is after how many days audit rows are deleted. 0 keeps them for
	// ever. What remains still verifies.
	RetentionDays int `env:"AUDIT_LOG_RETENTION_DAYS" envDefault:"0" range:"0..36500"`

	// CheckpointRows is after how many rows a checkpoint is signed.
	CheckpointRows int `env:"AUDIT_CHECKPOINT_ROWS" envDefault:"1000" range:"1..100000"`

	// CheckpointInterval is after what time a checkpoint is signed when there is a new
	// row. It is also signed when the gateway stops.
	CheckpointInterval time.Duration `env:"AUDIT_CHECKPOINT_INTERVAL" envDefault:"600000" range:"1000..86400000"`
}
