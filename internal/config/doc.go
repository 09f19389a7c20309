// Package config holds every setting of the gateway: its name, its default, what
// it accepts and what it means. The fields of Settings are the only place where a
// setting is declared; the names, the checks, `sluice config` and docs/settings.md
// all follow from their tags and comments.
//
// # Adding a setting
//
// Add a field to one of the groups, with a comment that begins with the field's
// name (it becomes the manual text) and these tags:
//
//	env         the exact name, for example "DB_POOL_SIZE"
//	envDefault  the value when nobody sets it; absent means empty, 0 or OFF
//	range       "1..1000": limits of a number; of a duration, in milliseconds
//	oneof       "json,text": the accepted words, found in any case
//	check       the name of a rule in checks.go; of a list it holds for each item
//	loads       the setting that takes the content of the file named here
//	also        a second spelling in the environment, for example "http_proxy"
//
// The type decides the rest: string, int, bool, time.Duration (written in
// milliseconds), []string (a comma list) or sealed.String. Then run
// `go generate ./internal/config`. Rules between settings stand beside the group
// they belong to.
package config

//go:generate go test -run ^TestManual$ -update
