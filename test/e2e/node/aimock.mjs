// A mock provider: aimock with answers that repeat the question, so that one set of
// expectations holds here and in front of our own upstream. The first line it
// prints is its URL; it ends when its input is closed, so that it never outlives
// the test.
import { LLMock } from '@copilotkit/aimock'

const text = content => Array.isArray(content) ? content.map(p => p.text ?? '').join(' ') : content ?? ''
const words = s => s.split(/\s+/).filter(Boolean).length
const lastUser = req => text(req.messages.findLast(m => m.role === 'user')?.content)

// usage counts words in both vocabularies: that of chat and that of responses.
function usage(req, answer) {
  const input = req.messages.reduce((n, m) => n + words(text(m.content)), 0)
  const output = words(answer)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, input_tokens: input, output_tokens: output }
}

// result is what a tool said; Gemini's stands in an object.
function result(content) {
  try {
    return JSON.parse(content).output
  } catch {
    return content
  }
}

function say(req) {
  const last = req.messages.at(-1)
  if (last.role === 'tool') return `The tool said: ${result(text(last.content))}`
  return `You said: "${lastUser(req)}".`
}

function answer(req) {
  const asked = lastUser(req)
  const fault = /^fault:status@(\d+)/.exec(decodeURIComponent(req.model)) // Gemini's stands in the path
  if (fault) return { error: { message: 'An injected fault.', type: 'server_error', code: null }, status: Number(fault[1]) }
  if (req.messages.at(-1).role !== 'tool') {
    const called = (req.tools ?? []).filter(t => asked.includes(t.function.name))
    if (called.length > 0) {
      return { toolCalls: called.map((t, i) => ({ id: `call_${i}`, name: t.function.name, arguments: JSON.stringify({ city: asked }) })), usage: usage(req, asked) }
    }
  }
  const content = req.response_format?.type === 'json_schema' ? JSON.stringify({ city: asked, rainy: true }) : say(req)
  return { content, usage: usage(req, content) }
}

// vector is any direction that depends on the text.
function vector(input) {
  const sum = [...input].reduce((n, c) => (n * 31 + c.codePointAt(0)) % 9973, 7)
  return Array.from({ length: 8 }, (_, i) => Math.fround(Math.sin(sum + i)))
}

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
mock.addFixture({ match: { endpoint: 'embedding', inputText: /./ }, response: req => ({ embedding: vector(req.embeddingInput) }) })
mock.onImage(/./, { images: [{ b64Json: Buffer.from('not really a picture').toString('base64') }] })
mock.onSpeech(/./, { audio: Buffer.from('not really a sound').toString('base64'), format: 'mp3' })
mock.onTranscription({ transcription: { text: 'I heard hello.wav' } })
mock.onModerate(/attack/, { flagged: true, categories: { violence: true } })
mock.onModerate(/./, { flagged: false, categories: {} })
mock.addFixture({ match: { endpoint: 'chat' }, response: answer })
await mock.start()
console.log(mock.url)
process.stdin.resume().on('end', () => process.exit(0))
