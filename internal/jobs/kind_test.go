package jobs_test

import (
	"testing"

	"sluice/internal/jobs"
	"sluice/internal/llm"
)

func TestKindOf_NamesEveryCallThatBeginsAJob(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]jobs.Kind{
		"/batch/jobs": jobs.Batch, "/v1beta/models/gemini-2.5-flash:batchGenerateContent": jobs.Batch, "/model-invocation-job": jobs.Batch,
		"/projects/p/locations/l/batchPredictionJobs": jobs.Batch, "/batches/": jobs.Batch, "//batches": jobs.Batch, "/b%61tches": jobs.Batch, "/embed-jobs": jobs.Batch,
		"/accounts/a/batchInferenceJobs": jobs.Batch, "/batches/b1/requests": jobs.Unknown, "/Batches": jobs.Batch, "/Fine_Tuning/JOBS": jobs.Finetune, "/v1beta/models/m:BatchGenerateContent": jobs.Batch,
		"/fine-tunes": jobs.Finetune, "/fine_tuning/jobs": jobs.Finetune, "/accounts/a/supervisedFineTuningJobs": jobs.Finetune, "/finetuning/finetuned-models": jobs.Finetune,
		"/videos": jobs.Video, "/videos/video_1/remix": jobs.Video, "/videos/generations": jobs.Video, "/video/generations/jobs": jobs.Video, "/v1beta/models/veo-3:predictLongRunning": jobs.Video, "/image_to_video": jobs.Video,
		"/evals/e1/runs": jobs.Eval, "/fine_tuning/alpha/graders/run": jobs.Eval, "/async-invoke": jobs.Unknown,
		"/chat/completions": "", "/batches/b1/cancel": "", "/fine_tuning/jobs/j1/cancel": "", "/evals": "", "/threads/t/runs": "", "/models/gemini:generateContent": "", "/models/m:batchEmbedContents": "", "/": "", "": "",
	} {
		if got := jobs.KindOf(llm.Proxy, "POST", path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		if got := jobs.KindOf(llm.Proxy, "GET", path); got != "" {
			t.Errorf("reading %s is %q", path, got)
		}
	}
	if jobs.KindOf(llm.CreateBatch, "POST", "/batches") != jobs.Batch || jobs.KindOf(llm.CreateFinetune, "POST", "/fine_tuning/jobs") != jobs.Finetune || jobs.KindOf(llm.ChatComplete, "POST", "/videos") != "" {
		t.Error("typed routes are known by their endpoint")
	}
}

func TestReadPath(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"/batch/jobs", "b1", "/batch/jobs/b1"},
		{"/videos", "video_1", "/videos/video_1"},
		{"/videos/video_0/remix", "video_1", "/videos/video_1"},
		{"/videos/generations", "v1", "/videos/v1"},
		{"/v1beta/models/gemini-2.5-flash:batchGenerateContent", "batches/b1", "/v1beta/batches/b1"},
		{"/v1/projects/p/locations/l/batchPredictionJobs", "projects/1/locations/l/batchPredictionJobs/2", "/v1/projects/1/locations/l/batchPredictionJobs/2"},
		{"/videos", "../keys", "/videos/..%2Fkeys"},
	} {
		if got := jobs.ReadPath(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is read at %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
