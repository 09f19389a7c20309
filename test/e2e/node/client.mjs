// The client under test, and what the environment says about the run:
//
//   SLUICE_BASE      base URL, ends in /v1
//   SLUICE_KEY       gateway key, sent where the provider's key goes
//   SLUICE_PROVIDER  saved provider for calls that name no model, for example "@peer"
//   SLUICE_PEER      who stands behind it: "upstream" (our own), "anthropic" or "gemini"
//                    (our own in the shapes of these), "aimock", "aimock-anthropic",
//                    "aimock-gemini", "aimock-cohere" or "aimock-bedrock"
import OpenAI from 'openai'

const env = name => process.env[name] ?? (() => { throw new Error(`${name} is not set: run this through go test ./test/e2e`) })()

export const base = env('SLUICE_BASE')
export const key = env('SLUICE_KEY')
export const provider = env('SLUICE_PROVIDER')
export const peer = env('SLUICE_PEER')

// only is the option of tests of what not all peers serve.
export const only = (...peers) => ({ skip: peers.includes(peer) ? false : `${peer} does not serve it` })
export const onlyUpstream = only('upstream')

// newClient is a stock client: the gateway key is its API key.
export function newClient(options = {}) {
  return new OpenAI({ baseURL: base, apiKey: key, maxRetries: 0, timeout: 20_000, ...options, defaultHeaders: { 'x-gateway-provider': provider, ...options.defaultHeaders } })
}

export const model = 'gpt-4o-mini'

// sound is a WAV file of one second of silence.
export function sound() {
  const data = Buffer.alloc(16000)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(16000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return OpenAI.toFile(Buffer.concat([head, data]), 'hello.wav', { type: 'audio/wav' })
}
