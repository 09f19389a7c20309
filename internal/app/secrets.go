package app

import (
	"log/slog"
	"net/http"

	"sluice/internal/config"
	"sluice/internal/ident"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/sign"
	"sluice/internal/secretref"
)

// secretOptions returns the options of the reader of external secret managers. filteredClient
// does not connect to private addresses.
func secretOptions(s config.Settings, filteredClient *http.Client, guard *netguard.Guard, signers *sign.Set, clock ident.Clock, log *slog.Logger) secretref.Options {
	return secretref.Options{
		HTTP: filteredClient, Signers: signers, AWSDomain: s.Cloud.AWSEndpointDomain, FederatedTokens: s.Cloud.AzureFederatedTokenFile != "",
		TakesStoredKeys: guard.TakesStoredKeys, Clock: clock, Log: log,
	}
}
