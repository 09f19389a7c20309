package providerjob

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// State is the state of a job in the provider's description.
type State struct {
	Status  string // in the provider's spelling, "in_progress"
	Ended   bool   // it does not change any more
	Failed  bool   // it ended without a usable result
	Stopped bool   // it was cancelled or expired before its end
	None    bool   // of a batch: no request got a response
	Output  string // id of the file of results; empty for none
	Trained int64  // tokens that were trained, over all epochs; 0: not reported
	Length  int64  // seconds of training since its creation; 0: not reported
	Seconds int64  // of a video, or of each of several videos; 0: not reported
	Videos  int64  // number of generated videos; 0: not reported
	Size    string // of a video, "1280x720"
	// Results are those in the description itself, a JSON list.
	Results []byte
}

// ended contains the final states in the spelling of all providers, in lower case and without
// their prefixes. The value is true for those without a result.
var ended = map[string]bool{
	"completed": false, "succeeded": false, "success": false, "complete": false, "ended": false, "partially_succeeded": false, "partiallycompleted": false, "ready": false, "done": false,
	"failed": true, "error": true, "errored": true, "failure": true, "validation_failed": true,
	"cancelled": false, "canceled": false, "expired": false, "timeout_exceeded": false, "stopped": false, "user_error": true, "rejected": true, "moderated": true,
}

// stopped contains the final states that end a job early.
var stopped = map[string]bool{"cancelled": true, "canceled": true, "expired": true, "stopped": true, "timeout_exceeded": true}

// statePrefixes precede states at Google and Fireworks.
var statePrefixes = [...]string{"job_state_", "batch_state_"}

// ReadState reads the description of a job: that of OpenAI and compatible providers, and the
// states of Anthropic, Google, Mistral and Together.
func ReadState(body []byte) State {
	s := State{Output: firstText(body, "output_file_id", "output_file")}
	for _, path := range [...][]string{{"status"}, {"processing_status"}, {"state"}, {"metadata", "state"}} {
		if s.Status = jsonedit.Text(body, path...); s.Status != "" {
			break
		}
	}
	status := strings.ToLower(s.Status)
	for _, p := range statePrefixes {
		status = strings.TrimPrefix(status, p)
	}
	s.Failed, s.Ended = ended[status]
	s.Stopped = stopped[status]
	if counts, ok := jsonedit.Find(body, "request_counts"); ok {
		s.None = numberAt(counts, "completed")+numberAt(counts, "succeeded") == 0
	}
	if raw, ok := jsonedit.Find(body, "done"); ok && string(raw) == "true" {
		s.Ended = true
		s.Failed = s.Failed || s.Status == "" && has(body, "error")
	}
	s.Trained = max(numberAt(body, "trained_tokens"), numberAt(body, "token_count"))
	if from, to := numberAt(body, "created_at"), numberAt(body, "finished_at"); from > 0 && to > from {
		s.Length = to - from
	}
	s.Seconds = max(numberAt(body, "seconds"), numberAt(body, "n_seconds"), numberAt(body, "video", "duration"))
	s.Videos = max(numberAt(body, "n_variants"), numberAt(body, "n"))
	s.Size = jsonedit.Text(body, "size")
	s.Results, _ = jsonedit.Find(body, "response", "inlinedResponses", "inlinedResponses")
	return s
}

func firstText(body []byte, names ...string) string {
	for _, n := range names {
		if s := jsonedit.Text(body, n); s != "" {
			return s
		}
	}
	return ""
}

// ID returns the id of a job in the response that created it; empty if there is none.
func ID(body []byte) string {
	id := firstText(body, "id", "name", "jobArn", "job_id", "video_id", "task_id", "request_id")
	if len(id) > maxID {
		return ""
	}
	return id
}

// maxID is the maximum length of the id of a job, in bytes. ARNs and resource names have a few
// hundred.
const maxID = 2048

// Response is one line of a result file.
type Response struct {
	Body   []byte // of the response, in the provider's shape; nil if there is none
	Failed bool   // the request ended with an error
}

// ReadResult reads a line of a result file: OpenAI's {"response":{"body":…}}, Anthropic's
// {"result":{"type":"succeeded","message":…}}, Amazon's {"modelOutput":…} and Google's
// {"response":…}. A line of another shape is itself the response.
func ReadResult(line []byte) Response {
	if raw, ok := jsonedit.Find(line, "result"); ok {
		message, found := jsonedit.Find(raw, "message")
		return Response{Body: message, Failed: !found}
	}
	if raw, ok := jsonedit.Find(line, "modelOutput"); ok {
		return Response{Body: raw, Failed: jsonedit.IsNull(raw)}
	}
	if raw, ok := jsonedit.Find(line, "response"); ok {
		if jsonedit.IsNull(raw) {
			return Response{Failed: true}
		}
		if body, ok := jsonedit.Find(raw, "body"); ok {
			return Response{Body: body, Failed: numberAt(raw, "status_code") >= 400}
		}
		return Response{Body: raw}
	}
	if has(line, "error") {
		return Response{Failed: true}
	}
	return Response{Body: line}
}
