package fault

import "encoding/json"

// Surface is the family of routes an error is answered on; it decides the body.
type Surface int

// The surfaces.
const (
	Model    Surface = iota // OpenAI-shaped routes and pass-through
	Messages                // Anthropic-shaped routes
	Admin                   // administration routes
	Google                  // paths of Google's clients: /v1beta
	Amazon                  // paths of Amazon's clients for Bedrock: /model
	Cohere                  // paths of Cohere's clients: /v2/chat
)

// Body renders the error for a surface as JSON.
//
// On Model the table's form decides: plain {"status","message","error"[,"errors"]},
// openai {"error":{message,type,param,code}}, key {"status","message","error":
// {message,type,param,code}}, inline as the contract spells it, route {"message","ok":false,"error"}. Messages gives
// {"type":"error","error":{type,message[,details]}}, where details has a code that is not the
// table's. Admin gives {"success":false,"data":
// {message,errorCode[,errors]}}. Google gives {"error":{code,message,status[,details]}}, Amazon
// and Cohere {"message"}; the type of Amazon's is in a header, see AmazonType.
// Source: contract/dataplane.md part 7, contract/identity-and-governance.md 6 and 14.
func (e *Error) Body(s Surface) []byte {
	b, err := json.Marshal(e.body(s))
	if err != nil { // strings and maps of strings only: cannot happen
		return []byte(`{"status":"failure","message":"internal error"}`)
	}
	return b
}

func (e *Error) body(s Surface) any {
	switch s {
	case Messages:
		errorBody := e.withRetryable(map[string]any{"type": e.anthropicType(), "message": e.Text()})
		if e.Wire != "" {
			errorBody["details"] = map[string]any{"error_code": e.Wire}
		}
		return map[string]any{"type": "error", "error": errorBody}
	case Admin:
		return e.adminBody()
	case Google:
		return e.googleBody()
	case Amazon, Cohere:
		return e.withRetryable(map[string]any{"message": e.Text()})
	case Model: // the code decides the form
	}
	text := e.Text()
	openai := e.withRetryable(map[string]any{"message": text, "type": e.typ(), "param": orNull(e.Param), "code": orNull(e.wire())})
	switch e.Code.row().Form {
	case "openai":
		return map[string]any{"error": openai}
	case "key":
		m := "Sluice Error: " + text + ". Error Code: " + e.wire()
		return map[string]any{"status": "failure", "message": m, "error": e.withRetryable(map[string]any{"message": m, "type": e.typ(), "param": orNull(e.Param), "code": e.wire()})}
	case "inline":
		return map[string]any{"status": "failure", "message": text, "error": map[string]any{"code": e.wire(), "message": text, "field": e.Param}}
	case "route":
		return map[string]any{"message": text, "ok": false, "error": openai} // the clients that come here have a base URL without /v1
	}
	m := map[string]any{"status": "failure", "message": text, "error": openai} // official clients show what stands in error
	if e.Code == InvalidConfig {
		m["code"] = e.wire()
	}
	if e.Param != "" {
		m["param"] = e.Param
	}
	if len(e.Details) > 0 {
		m["errors"] = e.Details
	}
	return m
}

// withRetryable adds whether trying again can help to the object of an error.
func (e *Error) withRetryable(object map[string]any) map[string]any {
	if e.Retryable != AgainUnsaid {
		object["retryable"] = e.Retryable == AgainHelps
	}
	if e.Reason != "" {
		object["reason"] = e.Reason
	}
	return object
}

func (e *Error) adminBody() any {
	data := map[string]any{"message": e.Text(), "errorCode": e.Code.row().Admin}
	if len(e.Details) > 0 {
		data["errors"] = e.Details
	} else if e.Param != "" {
		data["errors"] = []map[string]string{{"path": e.Param, "message": e.Text()}}
	}
	return map[string]any{"success": false, "data": data}
}

// anthropicType maps to the error types that Anthropic's clients know.
// Source: https://docs.anthropic.com/en/api/errors, read 2026-11.
func (e *Error) anthropicType() string {
	switch s := e.HTTPStatus(); {
	case s == 401:
		return "authentication_error"
	case s == 403:
		return "permission_error"
	case s == 404:
		return "not_found_error"
	case s == 413:
		return "request_too_large"
	case s == 429:
		return "rate_limit_error"
	case s == 503:
		return "overloaded_error"
	case s >= 500:
		return "api_error"
	}
	return "invalid_request_error"
}

func (e *Error) typ() string {
	if e.Type != "" {
		return e.Type
	}
	return e.Code.row().Type
}

func (e *Error) wire() string {
	if e.Wire != "" {
		return e.Wire
	}
	return e.Code.row().Wire
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
