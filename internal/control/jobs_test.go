package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/control"
	"sluice/internal/control/jobs"
	"sluice/internal/control/people"
	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/identity"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/mail"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// onEngines runs a test in a world of its own on each engine.
func onEngines(t *testing.T, run func(t *testing.T, w *ageing)) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
		"sqlite": storetest.SQLite, "postgres": storetest.Postgres, "mysql": storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newAgeing(t, storetest.Open(t, settings(t))))
		})
	}
}

// ageing is a world whose jobs are run by hand.
type ageing struct {
	*world
	mailer *pile
	now    time.Time
	watch  *watch // what the jobs work on
}

func newAgeing(t *testing.T, st *sqlstore.Store) *ageing {
	t.Helper()
	w := newWorld(t, st)
	return &ageing{world: w, mailer: &pile{}, now: w.clock.now, watch: &watch{Store: st, st: st}}
}

// pile is a mail server that keeps letters by the address they go to.
type pile struct {
	got  []string // "ada@acme.example: subject"
	ids  []string
	text string
	fail error
	cut  func() // called when a letter was taken
}

func (p *pile) Send(_ context.Context, id, to string, _ time.Time, l mail.Email) error {
	if p.fail != nil {
		return p.fail
	}
	p.got, p.ids, p.text = append(p.got, to+": "+l.Subject), append(p.ids, id), l.Text
	if p.cut != nil {
		p.cut()
	}
	return nil
}

// run runs the named jobs once; time has come to now.
func (w *ageing) run(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		job := w.job(t, name)
		for range 2 { // the second time there is nothing to do
			if err := job.Run(t.Context(), w.now); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (w *ageing) job(t *testing.T, name string) jobs.Job {
	t.Helper()
	templates, err := mail.NewTemplateSet("", mail.Brand{})
	if err != nil {
		t.Fatal(err)
	}
	list := control.Jobs(control.Parts{
		Store: w.watch, Box: w.box, Hasher: w.hasher, Clock: w.clock, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), KeyPrefix: "sk-",
		Wake: func() { w.wakes++ }, Mail: control.Mail{Sender: w.mailer, Templates: templates}, Meters: w.watch,
		RequestLog: control.RequestLog{Retention: tenant.Retention{Metrics: new(365)}},
	})
	i := slices.IndexFunc(list, func(j jobs.Job) bool { return j.Name == name })
	if i < 0 {
		t.Fatalf("there is no job %s", name)
	}
	return list[i]
}

// to moves the time.
func (w *ageing) to(t *testing.T, when string) {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, when)
	if err != nil {
		t.Fatal(err)
	}
	w.now = parsed
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	w.clock.now = parsed
}

// call makes a call and returns what was answered.
func (w *ageing) call(t *testing.T, caller, method, path, body string) map[string]any {
	t.Helper()
	r := httptest.NewRequest(method, w.names.reveal(path), strings.NewReader(w.names.reveal(body)))
	r.Header.Set("x-gateway-api-key", w.key(caller))
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	if rec.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	var out map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *ageing) stored(t *testing.T, id string) *resource.Row[keys.Key] {
	t.Helper()
	rec, err := w.store.Find(t.Context(), keys.Kind, id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := resource.Decode[keys.Key](rec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open is the present raw value of a key.
func (w *ageing) open(t *testing.T, r *resource.Row[keys.Key]) string {
	t.Helper()
	raw, err := w.box.Open(r.Value.Secret.Sealed, keys.Context(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// works reports whether a raw key is let in.
func (w *ageing) works(t *testing.T, raw string) bool {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/v1/configs", http.NoBody)
	r.Header.Set("x-gateway-api-key", raw)
	_, err := w.identify(r)
	return err == nil
}

// posted are the mails of the first organisation: "template to: status".
func (w *ageing) posted(t *testing.T) []string {
	t.Helper()
	rows, err := w.store.List(t.Context(), resource.Query{Kind: mail.Kind, OrgID: w.org, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		m, err := resource.Decode[mail.Message](r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s", m.Value.Template, strings.Join(m.Value.To, ","), r.Status))
	}
	return out
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A key goes through its whole life: warned of, rotated by itself, both values valid,
// then only the new one, at last expired.
func TestKeysAge(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		made := w.call(t, "service", "POST", "/v1/api-keys/workspace/service", `{"name": "Search", "scopes": ["configs.list"], "alert_emails": ["ops@acme.example", "OWNER@acme.example"],
			"expires_at": "2026-12-10T00:00:00Z", "rotation_policy": {"rotation_period": "weekly", "key_transition_period_ms": 172800000}}`)
		id, first := made["id"].(string), made["key"].(string)
		w.run(t, "keys")
		same(t, "mails at first", w.posted(t))

		w.to(t, "2026-11-22T00:00:00Z")
		w.run(t, "keys")
		warned := []string{"apikey-rotation-upcoming ops@acme.example pending", "apikey-rotation-upcoming OWNER@acme.example pending"}
		same(t, "mails a day before", w.posted(t), warned...)

		w.to(t, "2026-11-23T00:00:00Z")
		w.run(t, "keys")
		r := w.stored(t, id)
		second := w.open(t, r)
		if first == second || !w.works(t, first) || !w.works(t, second) || !r.Value.AutoRotated || !r.Value.LastRotatedAt.Equal(w.now) {
			t.Fatalf("both values are valid in the transition: %+v", r.Value)
		}
		if next := r.Value.Rotation.Next; next == nil || next.Format(time.RFC3339) != "2026-11-30T00:00:00Z" || !r.Value.Previous.Until.Equal(w.now.Add(48*time.Hour)) {
			t.Errorf("next %v, until %v", next, r.Value.Previous.Until)
		}
		rotated := append(warned, "apikey-rotated ops@acme.example pending", "apikey-rotated OWNER@acme.example pending")
		same(t, "mails behind the rotation", w.posted(t), rotated...)
		w.rotationIsOnRecord(t, id, r)

		w.to(t, "2026-11-24T00:00:00Z")
		w.run(t, "keys")
		endMails := append(rotated, "apikey-transition-expiring ops@acme.example pending", "apikey-transition-expiring OWNER@acme.example pending")
		same(t, "mails before the end", w.posted(t), endMails...)

		w.to(t, "2026-11-25T00:00:00Z")
		w.run(t, "keys")
		if r = w.stored(t, id); r.Value.Previous != nil || w.works(t, first) || !w.works(t, second) {
			t.Error("only the new value is valid after the transition")
		}
		rows, err := w.store.List(t.Context(), resource.Query{Kind: keys.Kind, Index: []resource.IndexEntry{{Name: "hash", Value: w.hasher.Sum(first).String()}}})
		if err != nil || len(rows) > 0 {
			t.Errorf("the old value still leads to %d keys, %v", len(rows), err)
		}

		w.to(t, "2026-12-10T00:00:00Z") // the worker was away for two rotations
		w.run(t, "keys")
		if r = w.stored(t, id); r.Status != "expired" || w.open(t, r) != second || w.works(t, second) {
			t.Errorf("%s: an expired key is not rotated", r.Status)
		}
		expired := append(endMails, "apikey-expired-alert ops@acme.example pending", "apikey-expired-alert OWNER@acme.example pending")
		same(t, "mails at the end", w.posted(t), expired...)

		w.call(t, "service", "PUT", "/v1/api-keys/"+id, `{"expires_at": "2026-12-20T00:00:00Z"}`)
		w.run(t, "keys")
		if r = w.stored(t, id); r.Status != resource.Active || w.open(t, r) != second || r.Value.Rotation.Next.Format(time.RFC3339) != "2026-12-14T00:00:00Z" {
			t.Errorf("%s %+v: a key that was prolonged waits for its next rotation", r.Status, r.Value.Rotation)
		}
		if w.wakes == 0 {
			t.Error("nobody was told of the changes")
		}
		w.names.learn("search", id)
		deeds := w.deeds(t)
		deeds[0], _, _ = strings.Cut(deeds[0], " {") // rotationIsOnRecord has looked at it
		same(t, "on record", deeds, "rotate api_keys search",
			`end_transition api_keys search {"notes":{"old_key_masked":"`+keys.Mask(first)+`","transition_expires_at":"2026-11-25T00:00:00.000Z"}}`,
			`expire api_keys search {"notes":{"expires_at":"2026-12-10T00:00:00.000Z"}}`)
	})
}

// deeds are the rows that the gateway itself left in the trail of the first organisation,
// the oldest first: "expire api_keys Search".
func (w *ageing) deeds(t *testing.T) []string {
	t.Helper()
	rows, err := w.store.AuditTrail(t.Context(), w.org, "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range slices.Backward(rows) {
		if r.ActorKind != resource.ActorSystem {
			continue
		}
		if !r.CreatedAt.Equal(w.now) && r.CreatedAt.After(w.now) || r.TargetID == "" || r.Status != http.StatusOK || r.Path != "" {
			t.Errorf("%+v", r)
		}
		out = append(out, r.Action+" "+r.Kind+" "+w.names.named[r.TargetID]+" "+string(r.Body))
	}
	return out
}

// rotationIsOnRecord looks for the rotation in the audit trail.
func (w *ageing) rotationIsOnRecord(t *testing.T, id string, r *resource.Row[keys.Key]) {
	t.Helper()
	rows, err := w.store.AuditTrail(t.Context(), w.org, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Notes map[string]string }
	if err := json.Unmarshal(rows[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	a, n := rows[0], body.Notes
	if a.Action != "rotate" || a.Kind != "api_keys" || a.ActorKind != resource.ActorSystem || a.TargetID != id || a.WorkspaceID != w.names.values["main"] {
		t.Errorf("%+v", a)
	}
	if n["rotation_mode"] != "auto" || n["api_key_id"] != id || n["old_key_masked"] != r.Value.Previous.Masked || n["transition_expires_at"] != "2026-11-25T00:00:00.000Z" {
		t.Errorf("%v", n)
	}
}

// A single run is the last, and a rotation waits for the end of a transition.
func TestSingleRotation(t *testing.T) {
	t.Parallel()
	w := newAgeing(t, storetest.Open(t, storetest.SQLite(t)))
	made := w.call(t, "service", "POST", "/v1/api-keys/workspace/service", `{"name": "Once", "scopes": ["configs.list"], "rotation_policy": {"next_rotation_at": "2026-11-21T00:00:00Z"}}`)
	id := made["id"].(string)
	w.to(t, "2026-11-20T23:50:00Z")
	w.call(t, "service", "PUT", "/v1/api-keys/"+id, `{"name": "Twice"}`)
	w.call(t, "service", "POST", "/v1/api-keys/"+id+"/rotate", ``)
	if w.stored(t, id).Value.Rotation != nil {
		t.Error("a policy without a period ends with its run, by hand too")
	}
	w.call(t, "service", "PUT", "/v1/api-keys/"+id, `{"rotation_policy": {"next_rotation_at": "2026-11-21T00:00:00Z"}}`)
	byHand := w.open(t, w.stored(t, id))
	w.to(t, "2026-11-21T00:00:00Z")
	w.run(t, "keys")
	if w.open(t, w.stored(t, id)) != byHand {
		t.Error("rotated during a transition")
	}
	w.to(t, "2026-11-21T00:21:00Z")
	w.run(t, "keys")
	if r := w.stored(t, id); w.open(t, r) == byHand || r.Value.Rotation != nil {
		t.Errorf("not rotated after it: %+v", r.Value.Rotation)
	}
}

// What a workspace forces holds for keys that were there before, until it is taken back.
func TestForcedCadence(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		userKey := w.call(t, "service", "POST", "/v1/api-keys/workspace/user", `{"name": "Ada", "scopes": ["completions.write"], "user_id": "<owner>", "rotation_policy": {"rotation_period": "monthly"}}`)["id"].(string)
		old := w.names.values["user-key"]
		w.call(t, "admin", "PUT", "/v1/organisations/self", `{"settings": {"user_api_key_rotation_period": 7}}`)
		w.run(t, "key-cadence")
		for _, id := range []string{userKey, old} {
			if p := w.stored(t, id).Value.Rotation; p == nil || p.Days != 7 || !p.Enforced || p.Next.Format(time.RFC3339) != "2026-11-27T00:00:00Z" {
				t.Errorf("%+v", p)
			}
		}
		if w.stored(t, w.names.values["service-key"]).Value.Rotation != nil {
			t.Error("a service key was forced")
		}
		w.to(t, "2026-11-27T00:00:00Z")
		w.run(t, "keys")
		if r := w.stored(t, old); !r.Value.AutoRotated || r.Value.Rotation.Next.Format(time.RFC3339) != "2026-12-04T00:00:00Z" {
			t.Errorf("%+v", r.Value)
		}
		w.call(t, "admin", "PUT", "/v1/organisations/self", `{"settings": {"user_api_key_rotation_period": null}}`)
		w.run(t, "key-cadence")
		if w.stored(t, old).Value.Rotation != nil {
			t.Error("the policy outlived the setting")
		}
		var forced []string
		for _, d := range w.deeds(t) {
			if strings.HasPrefix(d, "update api_keys user-key ") {
				forced = append(forced, d)
			}
		}
		same(t, "on record", forced, `update api_keys user-key {"notes":{"user_api_key_rotation_period":7}}`, `update api_keys user-key {"notes":{"user_api_key_rotation_period":0}}`)
	})
}

// Providers, virtual keys, invitations and sessions end.
func TestOthersAge(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		manager, member := w.id("manager"), w.id("member")
		w.person(t, manager, "mia@acme.example", access.Member, access.Manager)
		w.person(t, member, "max@acme.example", access.Member, access.Member)
		w.call(t, "service", "POST", "/v1/integrations", `{"name": "Groq", "slug": "groq-main", "ai_provider_id": "groq", "key": "gsk-s3cr3t-0123456789", "create_default_provider": false}`)
		short := w.call(t, "service", "POST", "/v1/providers", `{"name": "Short", "slug": "short", "integration_id": "groq-main", "expires_at": "2026-11-20T11:00:00Z"}`)["id"].(string)
		w.call(t, "service", "POST", "/v1/virtual-keys", `{"name": "Virtual", "slug": "vk", "provider": "openai", "key": "s3cr3t", "expires_at": "2026-11-20T11:00:00Z"}`)
		virtual, err := w.store.List(t.Context(), resource.Query{Kind: credential.VirtualKeyKind, OrgID: w.org})
		if err != nil || len(virtual) != 1 {
			t.Fatalf("%d virtual keys, %v", len(virtual), err)
		}
		invite := w.call(t, "admin", "POST", "/v1/admin/users/invites", `{"email": "new@acme.example", "role": "member"}`)["id"].(string)
		session := ident.NewID()
		w.put(t, resource.Record{Kind: identity.SessionKind, ID: session, OrgID: w.org}, identity.Session{UserID: manager, Began: began, ExpiresAt: began.Add(time.Hour)})

		w.to(t, "2026-11-20T10:59:00Z")
		w.run(t, "providers", "invites", "sessions")
		if _, err := w.store.Find(t.Context(), identity.SessionKind, session); err != nil {
			t.Error("an open session was dropped")
		}
		w.to(t, "2026-11-20T11:00:00Z")
		w.run(t, "providers", "invites", "sessions")
		if _, err := w.store.Find(t.Context(), identity.SessionKind, session); !fault.Has(err, fault.NotFound) {
			t.Errorf("a session that is over: %v", err)
		}
		w.statuses(t, credential.ProviderKind, "expired")
		w.statuses(t, credential.VirtualKeyKind, "expired")
		w.statuses(t, tenant.InviteKind, tenant.InvitePending)
		same(t, "mails", w.posted(t), "user-invite new@acme.example pending",
			"virtualkey-expired-alert owner@acme.example pending", "virtualkey-expired-alert mia@acme.example pending",
			"virtualkey-expired-alert owner@acme.example pending", "virtualkey-expired-alert mia@acme.example pending")

		w.to(t, "2026-11-28T10:00:00Z")
		w.run(t, "invites")
		w.statuses(t, tenant.InviteKind, tenant.InviteExpired)

		w.names.learn("short", short)
		w.names.learn("vk", virtual[0].ID)
		w.names.learn("invitation", invite)
		notes := ` {"notes":{"expires_at":"2026-11-20T11:00:00.000Z"}}`
		deeds := w.deeds(t)
		deeds[2], _, _ = strings.Cut(deeds[2], " {")
		same(t, "on record", deeds, "expire providers short"+notes, "expire virtual_keys vk"+notes, "expire user_invites invitation")

		w.to(t, "2026-12-30T00:00:00Z")
		w.run(t, "outbox-purge")
		same(t, "mails after a month", w.posted(t))
	})
}

// Feedback goes with the figures of what it was about.
func TestOldFeedbackIsDeleted(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		for range 2 {
			w.put(t, resource.Record{Kind: record.FeedbackKind, ID: ident.NewID(), OrgID: w.org, WorkspaceID: w.names.values["main"]}, record.Feedback{TraceID: "t"})
		}
		left := func() int {
			n, err := w.store.Count(t.Context(), resource.Query{Kind: record.FeedbackKind})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		w.now = began.AddDate(0, 0, 365)
		if w.run(t, "feedback-purge"); left() != 2 {
			t.Errorf("%d are left on the day", left())
		}
		w.now = w.now.Add(time.Millisecond)
		if w.run(t, "feedback-purge"); left() != 0 {
			t.Errorf("%d are left behind it", left())
		}
	})
}

// person makes a user of the first organisation, with a role in its main workspace.
func (w *ageing) person(t *testing.T, id, email string, org, workspaceRole access.Role) {
	t.Helper()
	u, m := tenant.User{Email: email, Role: org}, tenant.Member{UserID: id, Role: workspaceRole}
	w.put(t, resource.Record{Kind: tenant.UserKind, ID: id, OrgID: w.org, Name: email, Index: people.UserIndex(w.org, &u)}, u)
	w.put(t, resource.Record{
		Kind: tenant.MemberKind, ID: ident.NewID(), OrgID: w.org, WorkspaceID: w.names.values["main"],
		Index: []resource.IndexEntry{{Name: "user", Value: id}, {Name: "role", Value: string(workspaceRole)}},
	}, m)
}

// statuses checks the status of all records of a kind.
func (w *ageing) statuses(t *testing.T, kind, want string) {
	t.Helper()
	rows, err := w.store.List(t.Context(), resource.Query{Kind: kind, OrgID: w.org})
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d records of %s: %v", len(rows), kind, err)
	}
	for _, r := range rows {
		if r.Status != want {
			t.Errorf("%s is %s, want %s", kind, r.Status, want)
		}
	}
}

// A mail is sent once, with its link, and the link is kept no longer.
func TestOutboxIsSent(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		link := w.call(t, "admin", "POST", "/v1/admin/users/invites", `{"email": "new@acme.example", "role": "member"}`)["invite_link"].(string)
		w.to(t, "2026-11-20T10:05:00Z")
		w.mailer.fail = errors.New("the server is away")
		w.run(t, "outbox")
		same(t, "mails", w.posted(t), "user-invite new@acme.example pending")
		w.mailer.fail = nil
		w.run(t, "outbox")
		same(t, "letters before the next try", w.mailer.got)
		w.to(t, "2026-11-20T10:06:00Z")
		w.run(t, "outbox")
		same(t, "letters", w.mailer.got, "new@acme.example: You are invited to Acme")
		if !strings.Contains(w.mailer.text, link) {
			t.Errorf("the link %s is not in %s", link, w.mailer.text)
		}
		list := w.call(t, "admin", "GET", "/v1/outbox?status=sent", "")["data"].([]any)
		one := list[0].(map[string]any)
		if len(list) != 1 || one["tries"] != 2.0 || one["error"] != nil || one["sent_at"] != "2026-11-20T10:06:00.000Z" {
			t.Errorf("%v", list)
		}
		rec, err := w.store.Find(t.Context(), mail.Kind, one["id"].(string))
		if err != nil || strings.Contains(string(rec.Body), "sealed") {
			t.Errorf("%s %v", rec.Body, err)
		}
		versions, err := w.store.Versions(t.Context(), mail.Kind, rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		token := link[strings.LastIndex(link, "=")+1:]
		for _, v := range versions {
			if strings.Contains(string(v.Body), token) {
				t.Error("the link stands in the clear in the store")
			}
		}
	})
}

// refused is an answer that no other try changes.
type refused struct{}

func (refused) Error() string { return "550 no such user" }
func (refused) Final() bool   { return true }

func TestOutboxGivesUp(t *testing.T) {
	t.Parallel()
	w := newAgeing(t, storetest.Open(t, storetest.SQLite(t)))
	w.call(t, "admin", "POST", "/v1/admin/users/invites", `{"email": "gone@acme.example", "role": "member"}`)
	w.mailer.fail = refused{}
	w.to(t, "2026-11-20T10:05:00Z")
	w.run(t, "outbox")
	same(t, "mails", w.posted(t), "user-invite gone@acme.example failed")
	one := w.call(t, "admin", "GET", "/v1/outbox", "")["data"].([]any)[0].(map[string]any)
	if one["error"] != "550 no such user" || one["tries"] != 1.0 {
		t.Errorf("%v", one)
	}
}

// A gateway that dies behind the server's yes sends the mail once more, with the same id.
func TestDeathWhileSending(t *testing.T) {
	t.Parallel()
	w := newAgeing(t, storetest.Open(t, storetest.SQLite(t)))
	w.call(t, "admin", "POST", "/v1/admin/users/invites", `{"email": "new@acme.example", "role": "member"}`)
	w.to(t, "2026-11-20T10:05:00Z")
	w.mailer.cut = func() { panic("the power goes") }
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			w.run(t, "outbox")
		}()
		w.to(t, w.now.Add(mail.Doubt).Format(time.RFC3339))
	}
	w.run(t, "outbox")
	if len(w.mailer.ids) != 2 || w.mailer.ids[0] != w.mailer.ids[1] {
		t.Errorf("sent %d times: %v", len(w.mailer.ids), w.mailer.ids)
	}
	same(t, "mails", w.posted(t), "user-invite new@acme.example failed")
}

// Two nodes that send at once send each mail once.
func TestTwoSenders(t *testing.T) {
	t.Parallel()
	w := newAgeing(t, storetest.Open(t, storetest.SQLite(t)))
	for i := range 5 {
		w.call(t, "admin", "POST", "/v1/admin/users/invites", fmt.Sprintf(`{"email": "n%d@acme.example", "role": "member"}`, i))
	}
	w.to(t, "2026-11-20T10:05:00Z")
	inner := false
	w.mailer.cut = func() {
		if !inner { // another node comes by while this one sends
			inner = true
			w.run(t, "outbox")
		}
	}
	w.run(t, "outbox")
	slices.Sort(w.mailer.ids)
	if len(w.mailer.ids) != 5 || len(slices.Compact(w.mailer.ids)) != 5 {
		t.Errorf("%d letters: %v", len(w.mailer.got), w.mailer.got)
	}
}
