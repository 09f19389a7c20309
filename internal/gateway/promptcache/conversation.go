package promptcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"

	"sluice/internal/dialect/claude"
	"sluice/internal/kernel/jsonedit"
)

// sessionHeaders are the request headers in which clients send the id of a session, in the order of
// their precedence.
// Source: https://github.com/router-for-me/CLIProxyAPI/pull/4554, of 2026-07-25, and
// https://github.com/KarpelesLab/teamclaude/pull/352, of 2026-09-09.
var sessionHeaders = [...]string{
	"x-claude-code-session-id", "session-id", "session_id", "x-session-id", "x-session-affinity", "x-opencode-session", "x-amp-thread-id",
}

// Conversation returns a name for the conversation to which a caller's request belongs, for
// pins.NewKey: "key:support-7" for the prompt_cache_key of the body, "session:4f0c…" for a header or a
// member with a session id, else "prefix:9a41…" for a hash of the tools, the system prompt and all
// messages up to the first one of the user. All requests of a conversation have the same name. So do
// two conversations that begin alike, which share a cached prefix. The name is "" if the body is not
// that of a conversation.
//
// The body is that of chat completions, Messages or Responses. Conversation only reads it: a
// prompt_cache_key reaches the provider as it was sent. header returns a header by its lower-case
// name, or "". Marks of a prompt cache, which move from call to call, and the line of coding agents
// do not count. The cost is one pass over the body, and a hash of its beginning.
func Conversation(header func(name string) string, body []byte) string {
	c := reader{r: jsonedit.NewReader(body), prefix: sha256.New()}
	for name := range c.r.Members() {
		c.member(string(name))
	}
	switch {
	case !c.r.IsComplete():
		return ""
	case c.key != "":
		return "key:" + c.key
	}
	for _, name := range sessionHeaders {
		if id := header(name); id != "" {
			return "session:" + id
		}
	}
	switch {
	case c.session != "":
		return "session:" + c.session
	case c.turn:
		return "prefix:" + hex.EncodeToString(c.prefix.Sum(nil))
	}
	return ""
}

// reader reads what identifies a conversation.
type reader struct {
	r            jsonedit.Reader
	key, session string
	prefix       hash.Hash
	turn         bool // the first message of the user was read
}

func (c *reader) member(name string) {
	switch name {
	case "prompt_cache_key":
		c.key, _ = jsonedit.Unquote(c.r.Raw())
	case "conversation": // of Responses: an id, or an object with one
		raw := c.r.Raw()
		if id, ok := jsonedit.Unquote(raw); ok {
			c.session = id
		} else if id := jsonedit.Text(raw, "id"); id != "" {
			c.session = id
		}
	case "metadata":
		if id := agentSession(jsonedit.Text(c.r.Raw(), "user_id")); id != "" && c.session == "" {
			c.session = id
		}
	case "tools", "instructions":
		c.add(name, c.r.Raw())
	case "system":
		if raw := c.r.Raw(); len(raw) > 0 {
			c.add(name, claude.WithoutAttribution(raw))
		}
	case "messages", "input":
		c.messages()
	}
}

// agentSession returns the session in the user id that Claude's coding agents send:
// {"session_id":"4f0c…"}, or "user_…_account_…_session_4f0c…" in older versions. Other user ids do
// not identify a conversation.
// Source: https://github.com/router-for-me/CLIProxyAPI/issues/4452, read 2026-11.
func agentSession(userID string) string {
	if strings.HasPrefix(userID, "{") {
		return jsonedit.Text([]byte(userID), "session_id")
	}
	_, session, _ := strings.Cut(userID, "_session_")
	return session
}

// messages adds the messages up to the first one of the user.
func (c *reader) messages() {
	if c.r.Kind() == '"' { // the input of Responses
		c.add("user", c.r.Raw())
		c.turn = true
		return
	}
	for range c.r.Elements() {
		if c.turn {
			continue
		}
		message := c.r.Raw()
		content, _ := jsonedit.Find(message, "content")
		role := jsonedit.Text(message, "role")
		c.add(role, content)
		c.turn = role == "user"
	}
}

// add adds a part of the prompt to the hash, without marks. A list with one text counts as the text:
// clients change between the two when they move a mark.
func (c *reader) add(name string, raw []byte) {
	c.write([]byte(name))
	r := jsonedit.NewReader(raw)
	if r.Kind() != '[' {
		c.write([]byte("text"))
		c.write(raw)
		return
	}
	for range r.Elements() {
		if r.Kind() != '{' {
			c.write(r.Raw())
			continue
		}
		for member := range r.Members() {
			value := r.Raw()
			if string(member) != "cache_control" && (string(member) != "type" || !isText(value)) {
				c.write(member)
				c.write(value)
			}
		}
	}
}

func isText(typ []byte) bool { return bytes.Equal(typ, []byte(`"text"`)) }

// write adds bytes with their length, so that their borders count.
func (c *reader) write(b []byte) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(b)))
	c.prefix.Write(size[:])
	c.prefix.Write(b)
}
