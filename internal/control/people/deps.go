// Package people is the area of the organisation and its people: settings, users, members,
// invitations, sign-in, workspaces, and the emails to them. Start reading at Resources.
package people

import (
	"context"
	"log/slog"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/jobs"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
)

// Deps are the parts that the area uses. All are required unless the comment states otherwise.
type Deps struct {
	Store  resource.Store
	Box    *sealed.Sealer
	Hasher *keys.Hasher
	Log    *slog.Logger
	Guard  Guard
	// ConsoleURL is the public address of the console, without a trailing slash:
	// "https://gateway.example.com". Links in mails begin with it.
	ConsoleURL     string
	LocalLogin     bool // users sign in with e-mail and password
	Passwords      *identity.Passwords
	Throttle       *identity.LoginThrottle // limits logins
	Invites        *identity.LoginThrottle // limits acceptances of invitations
	Features       map[string]bool         // deployment flags by name; a flag that is absent is on
	LogRetention   tenant.Retention        // maximum that a workspace may set
	RetentionShown RetentionShown
	Proxies        wire.Proxies // proxies that are trusted to report client addresses; may be nil

	// Mail sends emails to a mail server; if it is nil, mails wait in the outbox. Templates
	// renders the emails; only jobs need it.
	Mail      Mailer
	Templates *mail.TemplateSet

	Budgets      budgets.Limits
	Sweeper      sweep.Sweeper
	UserKeys     UserKeys
	Integrations Integrations
	// DefaultCollection creates the default collection of a workspace unless it exists.
	DefaultCollection func(ctx context.Context, tx resource.Tx, c *resource.Call, orgID, workspaceID string) error
}

// Guard checks URLs that callers name: *netguard.Guard.
type Guard interface {
	// CheckURL returns fault.InvalidRequest or fault.AddressRefused for a URL that is not
	// allowed.
	CheckURL(raw string) error
}

// UserKeys creates the API keys that users get automatically.
type UserKeys interface {
	// Make creates a user key with scopes in a workspace.
	Make(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string, scopes []string) error
	// MakeOnJoining creates a user key for a new member if the workspace requires it.
	MakeOnJoining(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string) error
}

// Integrations grants integrations to workspaces that come, and withdraws them from those that
// go.
type Integrations interface {
	// GrantAll grants everything with global access to a new workspace.
	GrantAll(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error
	// WithdrawAll removes a deleted workspace from the integrations of the organisation.
	WithdrawAll(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record) error
}

// Handlers of the area, by subject.
type (
	sessions      struct{ Deps }
	organisation  struct{ Deps }
	auth          struct{ Deps }
	workspaces    struct{ Deps }
	members       struct{ Deps }
	users         struct{ Deps }
	invites       struct{ Deps }
	mails         struct{ Deps }
	scheduledJobs struct{ Deps }
)

// Resources returns what the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource {
	return []resource.Resource{
		sessions{d}.sessions(),
		organisation{d}.organisation(),
		auth{d}.auth(),
		workspaces{d}.workspaces(),
		members{d}.members(),
		users{d}.users(),
		invites{d}.invites(),
		mails{d}.outbox(),
	}
}

// Jobs returns the scheduled jobs of the area.
func Jobs(d Deps) []jobs.Job {
	list := []jobs.Job{
		{Name: "invites", Every: time.Minute, Run: scheduledJobs{d}.expireInvites},
		{Name: "sessions", Every: time.Hour, Run: scheduledJobs{d}.dropSessions},
		{Name: "outbox-purge", Every: time.Hour, Run: scheduledJobs{d}.purgeOutbox},
	}
	if d.Mail != nil {
		list = append(list, jobs.Job{Name: "outbox", Every: 5 * time.Second, Run: scheduledJobs{d}.sendMails})
	}
	return list
}
