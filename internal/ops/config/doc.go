// Package config declares every setting of the gateway: its name, its default, its
// accepted values and its meaning. The fields of Settings are the only place where a
// setting is declared. The names, the checks, `sluice config` and docs/settings.md
// are all derived from their tags and comments. Start reading at Settings.
//
// # Adding a setting
//
// Add a field to one of the groups, with a comment that begins with the field's
// name (it becomes the manual text) and these tags:
//
//	env         the exact name, for example "DB_POOL_SIZE"
//	envDefault  the value when the setting is absent; without this tag it is empty, 0 or OFF
//	range       "1..1000": limits of a number; of a duration, in milliseconds
//	oneof       "json,text": the accepted values, in any case
//	check       the name of a rule in checks.go; for a list it applies to each item
//	loads       the setting that receives the content of the file that this setting names
//	also        a second spelling in the environment, for example "http_proxy"
//
// The type determines the rest: string, int, bool, time.Duration (written in
// milliseconds), []string (a comma-separated list) or sealed.String. Then run
// `go generate ./internal/ops/config`. Rules between settings are next to the group
// they belong to.
package config

//go:generate go test -run ^TestManual$ -update
