// Package deployments is the part of the administration that serves gateway deployments: their
// records, their health, and the record that a deployment reads of itself. Start reading at
// Resources.
package deployments

import (
	"log/slog"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/control/sidedata"
	"sluice/internal/domain/deployment"
	"sluice/internal/domain/keys"
)

// Deps are the dependencies and settings of the area. All are required.
type Deps struct {
	SideData sidedata.Writer // stores the state of a deployment
	Store    resource.Store
	Log      *slog.Logger
	Hasher   *keys.Hasher
	// KeyPrefix is the prefix of the tokens of deployments: "sk-".
	KeyPrefix string
	// Limits is the maximum number of gateways of each type that an organisation may register; a
	// type that is absent has no limit.
	Limits    map[deployment.Type]int
	Addresses Addresses
	Outside   *http.Client // for addresses that callers name; blocks private addresses
}

// Addresses checks URLs that callers name: *netguard.Guard.
type Addresses interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
}

// Resources returns everything that the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{deployments{d}.kind(), deployments{d}.caller()}
}

// deployments serves the records of deployments.
type deployments struct{ Deps }
