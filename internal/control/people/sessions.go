package people

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// hashEntry is the index entry that finds a session or an invitation by the hash of its token.
const hashEntry = "hash"

// sessions returns the routes that sign users in and out. They are not a resource.Kind, because
// they determine who the caller is.
// Source: contract/identity-and-governance.yaml, login and session; the local login
// is ours.
func (k sessions) sessions() resource.Resource {
	return resource.Operations{
		{
			Method: http.MethodPost, Path: "/auth/login", ID: "login", Summary: "Sign in with email and password", Tag: "Sessions",
			Public: true, Body: loginIn{}, Response: loginOut{}, Audited: "auth", Action: "login", Run: k.login,
		},
		{
			Method: http.MethodPost, Path: "/auth/logout", ID: "logout", Summary: "End this session", Tag: "Sessions",
			Scopes: anySessionScopes, Anywhere: true, Audited: "auth", Action: "logout", Run: k.logout,
		},
		{
			Method: http.MethodGet, Path: "/auth/self", ID: "getSelf", Summary: "Get the signed-in user and their permissions", Tag: "Sessions",
			Scopes: anySessionScopes, Anywhere: true, Response: selfView{}, Run: self,
		},
		{
			Method: http.MethodDelete, Path: "/auth/sessions", ID: "endSessions", Summary: "Sign out everywhere", Tag: "Sessions",
			Scopes: anySessionScopes, Anywhere: true, Audited: "auth", Action: "logout", Run: k.endSessions,
		},
		{
			Method: http.MethodPut, Path: "/auth/password", ID: "updatePassword", Summary: "Change your password; all other sessions are signed out", Tag: "Sessions",
			Scopes: anySessionScopes, Anywhere: true, Body: passwordIn{}, Audited: "auth", Action: "update", Run: k.putPassword,
		},
	}
}

// anySessionScopes contains a scope that every session has. Operations that are open to any
// user require it.
var anySessionScopes = []access.Scope{"workspaces.list"}

type loginIn struct {
	Email          string `json:"email" maxLength:"254"`
	Password       string `json:"password" maxLength:"1024"`
	OrganisationID string `json:"organisation_id,omitempty" format:"uuid" doc:"Required for an email address that several organisations use"`
}

type loginOut struct {
	Token     string         `json:"token" doc:"Session token, also set as a cookie; send it as a bearer token"`
	ExpiresAt resource.Stamp `json:"expires_at"`
	UserID    string         `json:"user_id" format:"uuid"`
	Object    string         `json:"object" enum:"session"`
}

type passwordIn struct {
	Current string `json:"current_password" maxLength:"1024"`
	New     string `json:"new_password" minLength:"12" maxLength:"1024"`
}

// errBadLogin returns the error of every failed login, whatever the reason. Its text always
// explains what to do for an address in several organisations, because the response must not
// reveal that an address is one.
func errBadLogin() error {
	return fault.New(fault.Unauthenticated, "wrong email or password; if you belong to several organisations, send organisation_id")
}

// login opens a session. Neither the response nor its timing reveals whether an address is
// known.
func (k sessions) login(ctx context.Context, c *resource.Call) (any, error) {
	if !k.LocalLogin {
		return nil, fault.New(fault.FeatureOff, "this deployment signs users in through its identity provider (AUTH_MODE)")
	}
	email, err := Email(c.Sent.Text("email"), "email")
	if err != nil {
		return nil, err
	}
	if err := http.NewCrossOriginProtection().Check(c.Request()); err != nil { // a cross-site request would sign the browser in as another user
		return nil, fault.New(fault.Forbidden, "cross-site request rejected").WithCause(err)
	}
	account, pair, remote := identity.AccountOf(email), identity.PairOf(email, c.Remote()), identity.NetworkOf(c.Remote())
	if err := k.Throttle.Allow(c.Now, account, pair); err != nil {
		return nil, err
	}
	user, err := k.authenticate(ctx, c, email, remote, account, pair)
	if err != nil {
		return nil, err
	}
	k.Throttle.Succeeded(account)
	k.Throttle.Succeeded(pair)
	return k.open(ctx, c, user)
}

// authenticate returns the user with the sent email address and password. Attempts are slow
// after too many failures in their network. A failure counts for names (the account, and the
// account with the client's address) and for the network. Other attempts may fail while this
// one waits for its turn. Then it is rejected, or repeated as a slow attempt.
func (k sessions) authenticate(ctx context.Context, c *resource.Call, email, network string, names ...string) (*resource.Row[tenant.User], error) {
	for {
		slow, done, err := k.slowDown(ctx, c, k.Throttle, network, names...)
		if err != nil {
			return nil, err
		}
		user, err := k.tryLogin(ctx, c, email, func() error {
			if !slow && k.Throttle.IsSlow(c.Now, network) {
				return errSlow
			}
			return k.Throttle.Allow(c.Now, names...)
		})
		if errors.Is(err, errWrong) {
			k.Throttle.Failed(c.Now, append(names, network)...)
			err = errBadLogin()
		}
		done()
		if !errors.Is(err, errSlow) {
			return user, err
		}
	}
}

var (
	// errSlow ends a fast attempt if its network had too many failures by the time of its turn.
	// The attempt is then repeated as a slow one.
	errSlow  = errors.New("the attempt must be slow")
	errWrong = errors.New("the e-mail address or the password is wrong")
)

// tryLogin checks the sent password and returns its user. It returns errWrong for a wrong one.
// It calls allowed when it is the turn of the attempt, and returns its error.
func (k sessions) tryLogin(ctx context.Context, c *resource.Call, email string, allowed func() error) (*resource.Row[tenant.User], error) {
	user, login, err := findLogin(ctx, c, email)
	if err != nil {
		return nil, err
	}
	hash := ""
	if login != nil {
		hash = login.Value.Hash
	}
	ok, err := k.Passwords.Matches(ctx, hash, c.Sent.Secret("password"), allowed)
	if login != nil && !errors.Is(err, errSlow) {
		c.SetPrincipal(&access.Principal{Kind: access.BySession, OrgID: user.OrgID, UserID: user.ID, Name: email})
		c.Target(user.Record)
	}
	if err == nil && !ok {
		err = errWrong
	}
	return user, err
}

// slowHashes is the number of extra password hashes before a slow attempt. Each takes about
// 20 ms.
const slowHashes = 4

// slowDown slows an attempt down if its network had too many failures. Guessing at many
// accounts then costs time, while a correct password is still accepted. It reports whether the
// attempt is slow. The caller must call done at the end of the attempt, unless err is not nil.
func (k sessions) slowDown(ctx context.Context, c *resource.Call, by *identity.LoginThrottle, network string, names ...string) (slow bool, done func(), err error) {
	slow, done, err = by.Slowly(ctx, c.Now, network, names...)
	if fault.Has(err, fault.RateLimited) {
		return slow, nil, err
	}
	if err != nil {
		return slow, nil, fault.Wrap(fault.ClientGone, err)
	}
	for i := 0; slow && i < slowHashes; i++ {
		if _, err := k.Passwords.Matches(ctx, "", sealed.New(network), nil); err != nil {
			done()
			return slow, nil, err
		}
	}
	return slow, done, nil
}

// findLogin returns the user with an email address, and the password record, which is nil if the
// user does not have a password. Both are nil if there is no such user. They are also nil if
// several organisations have the address and the call does not name one: the time to try all
// passwords would reveal their number. The record has an empty hash if the organisation does
// not accept passwords. findLogin looks for a password in every case, because that takes time,
// too.
func findLogin(ctx context.Context, c *resource.Call, email string) (*resource.Row[tenant.User], *resource.Row[identity.Login], error) {
	users, err := resource.ListRows[tenant.User](ctx, c.Reader, resource.Query{
		Kind: tenant.UserKind, OrgID: c.Sent.Text("organisation_id"), Statuses: []string{resource.Active}, Limit: 2,
		Index: []resource.IndexEntry{{Name: directory.EmailEntry, Value: shortened(email)}},
	})
	if err != nil {
		return nil, nil, err
	}
	if len(users) != 1 {
		_, _, err := localLogin(ctx, c.Reader, resource.Record{})
		return nil, nil, err
	}
	login, local, err := localLogin(ctx, c.Reader, users[0].Record)
	if err == nil && login != nil && !local {
		login.Value.Hash = ""
	}
	return users[0], login, err
}

// localLogin returns the password record of a user, nil for none, and whether the organisation
// of the user accepts passwords.
func localLogin(ctx context.Context, from resource.Reader, user resource.Record) (login *resource.Row[identity.Login], local bool, err error) {
	login, err = loginOf(ctx, from, user)
	if err != nil {
		return nil, false, err
	}
	a, err := authOf(ctx, from, user.OrgID)
	return login, err == nil && !a.Value.SSOOnly, err
}

// loginOf returns the password record of a user, or nil if there is none.
func loginOf(ctx context.Context, from resource.Reader, user resource.Record) (*resource.Row[identity.Login], error) {
	rows, err := resource.ListRows[identity.Login](ctx, from, resource.Query{
		Kind: identity.LoginKind, OrgID: user.OrgID, Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: user.ID}}, Limit: 1,
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// open creates a session for an authenticated user and sets the session cookie.
func (k sessions) open(ctx context.Context, c *resource.Call, user *resource.Row[tenant.User]) (any, error) {
	var out loginOut
	err := c.Change(ctx, func(tx resource.Tx) error {
		longest, err := longestSession(ctx, tx, user.OrgID)
		if err != nil {
			return err
		}
		token := identity.NewToken()
		s := identity.Session{
			UserID: user.ID, Began: c.Now, ExpiresAt: c.Now.Add(longest), Agent: jsonfield.Clip(c.Request().UserAgent(), 255), RemoteIP: c.Remote(),
		}
		c.Target(user.Record)
		out = loginOut{token, resource.Stamp(s.ExpiresAt), user.ID, identity.SessionKind}
		return tx.Insert(ctx, resource.Record{
			Kind: identity.SessionKind, ID: ident.NewID(), OrgID: user.OrgID, Status: resource.Active, Version: 1, Created: c.Now, Updated: c.Now, Body: jsonfield.Encode(s),
			Index: []resource.IndexEntry{{Name: hashEntry, Value: k.Hasher.Sum(token).String(), Unique: true}, {Name: directory.UserEntry, Value: user.ID}},
		})
	})
	if err != nil {
		return nil, err
	}
	c.SetCookie(k.browsers().cookie(c.Request(), out.Token, time.Time(out.ExpiresAt)))
	return out, nil
}

// longestSession returns the maximum lifetime of sessions of an organisation. All sessions are
// opened with a password. Therefore it returns fault.Unauthenticated if the organisation does
// not accept passwords.
func longestSession(ctx context.Context, from resource.Reader, orgID string) (time.Duration, error) {
	a, err := authOf(ctx, from, orgID)
	if err != nil {
		return 0, err
	}
	if a.Value.SSOOnly {
		return 0, noPasswords()
	}
	if ttl := a.Value.Session.MaxTTL; ttl > 0 {
		return min(time.Duration(ttl)*time.Second, identity.Life), nil
	}
	return identity.Life, nil
}

// noPasswords returns the error for a password sign-in, or a session from one, in an organisation
// that does not accept passwords.
// Source: contract/identity-and-governance.yaml, AuthSettings.sso_only.
func noPasswords() error {
	return fault.New(fault.Unauthenticated, "this organisation requires single sign-on (sso_only)")
}

// Session returns the principal of a request with a session token, either a bearer token or the
// cookie. ok is false if the request does not have a session token. The error is
// fault.Unauthenticated if the session has ended, and fault.Forbidden for a cross-site request
// with the cookie.
func Session(ctx context.Context, from resource.Reader, hasher *keys.Hasher, clock ident.Clock, by Browsers, r *http.Request) (p *access.Principal, ok bool, err error) {
	token, byCookie := sessionToken(by, r)
	if token == "" {
		return nil, false, nil
	}
	if byCookie {
		if err := http.NewCrossOriginProtection().Check(r); err != nil {
			return nil, true, fault.New(fault.Forbidden, "cross-site request rejected").WithCause(err)
		}
	}
	rows, err := resource.ListRows[identity.Session](ctx, from, resource.Query{
		Kind: identity.SessionKind, Statuses: []string{resource.Active}, Index: []resource.IndexEntry{{Name: hashEntry, Value: hasher.Sum(token).String()}}, Limit: 1,
	})
	if err != nil {
		return nil, true, err
	}
	if len(rows) == 0 {
		return nil, true, fault.New(fault.Unauthenticated, "your session has expired; sign in again")
	}
	s := rows[0]
	longest, err := longestSession(ctx, from, s.OrgID)
	if err == nil {
		err = s.Value.Check(clock.Now(), longest)
	}
	if err != nil {
		return nil, true, err
	}
	p = &access.Principal{Kind: access.BySession, ID: s.ID, OrgID: s.OrgID, UserID: s.Value.UserID}
	return p, true, ApplyUserRights(ctx, from, p)
}

func sessionToken(by Browsers, r *http.Request) (token string, byCookie bool) {
	const scheme = "Bearer "
	if h := r.Header.Get("Authorization"); len(h) > len(scheme) && identity.IsToken(h[len(scheme):]) {
		return h[len(scheme):], false
	}
	if r.Header.Get("x-gateway-api-key") != "" || r.Header.Get("Authorization") != "" {
		return "", false
	}
	token = by.token(r)
	return token, token != ""
}

// signedIn returns fault.Forbidden if the caller does not use a session.
func signedIn(c *resource.Call) error {
	if c.Principal.Kind != access.BySession {
		return fault.New(fault.Forbidden, "only a signed-in user can do this; an API key cannot")
	}
	return nil
}

func (k sessions) logout(ctx context.Context, c *resource.Call) (any, error) {
	return k.signOut(ctx, c, func(tx resource.Tx) error { return tx.Delete(ctx, identity.SessionKind, c.Principal.ID) })
}

func (k sessions) endSessions(ctx context.Context, c *resource.Call) (any, error) {
	return k.signOut(ctx, c, func(tx resource.Tx) error { return EndSessions(ctx, tx, c.OrgID, c.Principal.UserID, "") })
}

// signOut calls end to end sessions of the caller, including that of the call, and deletes the
// session cookie.
func (k sessions) signOut(ctx context.Context, c *resource.Call, end func(tx resource.Tx) error) (any, error) {
	if err := signedIn(c); err != nil {
		return nil, err
	}
	err := c.Change(ctx, func(tx resource.Tx) error {
		c.Target(resource.Record{ID: c.Principal.UserID})
		return end(tx)
	})
	c.SetCookie(k.browsers().cookie(c.Request(), "", time.Unix(1, 0)))
	return resource.Empty{}, err
}

// EndSessions ends all sessions of a user except the one with the id but. An empty but ends all.
func EndSessions(ctx context.Context, tx resource.Tx, orgID, userID, but string) error {
	after := ""
	for {
		rows, err := tx.List(ctx, resource.Query{Kind: identity.SessionKind, OrgID: orgID, Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: userID}}, After: after, Limit: 1000})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			after = r.ID
			if r.ID == but {
				continue
			}
			if err := tx.Delete(ctx, identity.SessionKind, r.ID); err != nil {
				return err
			}
		}
	}
}

func (k sessions) putPassword(ctx context.Context, c *resource.Call) (any, error) {
	if err := signedIn(c); err != nil {
		return nil, err
	}
	user := resource.Record{ID: c.Principal.UserID, OrgID: c.OrgID}
	login, err := loginOf(ctx, c.Reader, user)
	if err != nil {
		return nil, err
	}
	if login == nil {
		return nil, fault.New(fault.InvalidRequest, "your account does not have a password; sign in through the identity provider")
	}
	allowed := func() error { return k.Throttle.Allow(c.Now, user.ID) }
	if err := allowed(); err != nil {
		return nil, err
	}
	ok, err := k.Passwords.Matches(ctx, login.Value.Hash, c.Sent.Secret("current_password"), allowed)
	if err != nil {
		return nil, err
	}
	if !ok {
		k.Throttle.Failed(c.Now, user.ID)
		return nil, fault.New(fault.InvalidParameter, "must be your current password").WithParam("current_password")
	}
	next := c.Sent.Secret("new_password")
	if err := identity.Check(next, "new_password"); err != nil {
		return nil, err
	}
	hash, err := k.Passwords.Hash(ctx, next)
	if err != nil {
		return nil, err
	}
	return resource.Empty{}, c.Change(ctx, func(tx resource.Tx) error {
		c.Target(user)
		if err := SetPassword(ctx, tx, user, hash, c.Now); err != nil {
			return err
		}
		return EndSessions(ctx, tx, c.OrgID, user.ID, c.Principal.ID)
	})
}

// SetPassword replaces the password hash of a user. The record does not have versions, so the
// old hash is deleted.
func SetPassword(ctx context.Context, tx resource.Tx, user resource.Record, hash string, now time.Time) error {
	old, err := loginOf(ctx, tx, user)
	if err != nil {
		return err
	}
	if old != nil {
		if err := tx.Delete(ctx, identity.LoginKind, old.ID); err != nil {
			return err
		}
	}
	return tx.Insert(ctx, resource.Record{
		Kind: identity.LoginKind, ID: ident.NewID(), OrgID: user.OrgID, Status: resource.Active, Version: 1, Created: now, Updated: now,
		Body: jsonfield.Encode(identity.Login{UserID: user.ID, Hash: hash}), Index: []resource.IndexEntry{{Name: directory.UserEntry, Value: user.ID}},
	})
}

// selfView describes the signed-in user.
type selfView struct {
	User         userView        `json:"user"`
	Organisation selfOrg         `json:"organisation"`
	Workspaces   []selfWorkspace `json:"workspaces" nullable:"false"`
}

type selfOrg struct {
	ID   string      `json:"id" format:"uuid"`
	Name string      `json:"name"`
	Role access.Role `json:"role" enum:"owner,admin,member"`
}

type selfWorkspace struct {
	ID     string      `json:"id" format:"uuid"`
	Slug   string      `json:"slug"`
	Name   string      `json:"name"`
	Role   access.Role `json:"role" enum:"admin,manager,member"`
	Scopes []string    `json:"scopes" nullable:"false"`
}

func self(ctx context.Context, c *resource.Call) (any, error) {
	if err := signedIn(c); err != nil {
		return nil, err
	}
	user, err := directory.FindUser(ctx, c, c.Principal.UserID, "user_id")
	if err != nil {
		return nil, err
	}
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	q := resource.Query{Kind: tenant.WorkspaceKind, OrgID: c.OrgID, Statuses: []string{resource.Active}, Limit: 1000}
	if !c.Principal.IsOrgWide() {
		for id := range c.Principal.Memberships {
			q.IDs = append(q.IDs, id)
		}
		q.IDs = jsonfield.OrEmpty(q.IDs)
	}
	workspaces, err := resource.ListRows[tenant.Workspace](ctx, c.Reader, q)
	if err != nil {
		return nil, err
	}
	v := selfView{User: viewUser(user), Organisation: selfOrg{org.ID, org.Value.Name, user.Value.Role}, Workspaces: []selfWorkspace{}}
	for _, ws := range workspaces {
		role := c.Principal.Memberships[ws.ID].Role
		if role == "" {
			role = access.Admin // an admin of the organisation is one in every workspace
		}
		v.Workspaces = append(v.Workspaces, selfWorkspace{ws.ID, ws.Slug, ws.Value.Name, role, c.Principal.Allowed(ws.ID)})
	}
	return v, nil
}

// passwordOf checks and hashes a new password. path is the field that an error names.
func (k sessions) passwordOf(ctx context.Context, p sealed.String, path string) (string, error) {
	if err := identity.Check(p, path); err != nil {
		return "", err
	}
	return k.Passwords.Hash(ctx, p)
}
