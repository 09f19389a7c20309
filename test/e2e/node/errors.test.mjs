import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { base, model, newClient, onlyUpstream, provider } from './client.mjs'

const client = newClient()
const messages = [{ role: 'user', content: 'Hello there' }]
const chat = (c, extra = {}) => c.chat.completions.create({ model, messages, ...extra })

// refused is what the client throws, after checks that hold for every refusal.
async function refused(promise, kind, status) {
  const err = await promise.then(() => assert.fail('it was answered'), e => e)
  assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`)
  assert.equal(err.status, status)
  assert.ok(err.headers.get('x-gateway-trace-id'), 'no trace id')
  assert.ok(err.headers.get('x-gateway-request-id'), 'no request id')
  return err
}

describe('errors', () => {
  it('of the gateway have the class that their status means', async () => {
    await refused(chat(newClient({ apiKey: 'sk-nobody-has-this-key-0000000000' })), OpenAI.AuthenticationError, 401)
    await refused(chat(newClient({ defaultHeaders: { 'x-gateway-provider': 'no-such-provider' } })), OpenAI.BadRequestError, 400)
    await refused(chat(newClient({ defaultHeaders: { 'x-gateway-config': '{"strategy":{"mode":"sideways"}}' } })), OpenAI.BadRequestError, 400)
  })

  it('of a base URL without its end say what to do', async () => {
    const lost = newClient({ baseURL: base.replace(/\/v1$/, ''), defaultHeaders: { 'x-gateway-provider': null } })
    const err = await refused(chat(lost), OpenAI.NotFoundError, 404)
    assert.match(err.message, /end the base URL of the client with \/v1/)
  })

  for (const [status, kind] of [[400, OpenAI.BadRequestError], [401, OpenAI.AuthenticationError], [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError], [409, OpenAI.ConflictError], [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError], [500, OpenAI.InternalServerError], [503, OpenAI.InternalServerError]]) {
    it(`of the provider keep their status ${status}`, async () => {
      const err = await refused(chat(client, { model: `fault:status@${status}` }), kind, status)
      assert.ok(err.error.message.length > 0)
    })
  }

  it('of the provider keep what they name', onlyUpstream, async () => {
    const err = await refused(client.chat.completions.create({ model, messages: [] }), OpenAI.BadRequestError, 400)
    assert.equal(err.type, 'invalid_request_error')
  })

  it('are mended by the client\'s own retries', onlyUpstream, async () => {
    const stubborn = newClient({ maxRetries: 2 })
    const a = await chat(stubborn, { model: 'fault:status@503*1#node-retry' })
    assert.match(a.choices[0].message.content, /Hello there/)
  })

  it('are mended by the gateway\'s retries', onlyUpstream, async () => {
    const config = JSON.stringify({ provider, retry: { attempts: 2 } })
    const c = newClient({ defaultHeaders: { 'x-gateway-provider': null, 'x-gateway-config': config } })
    const { response } = await chat(c, { model: 'fault:status@503*1#gateway-retry' }).withResponse()
    assert.equal(response.headers.get('x-gateway-retry-attempt-count'), '1')
  })

  it('in the middle of a stream are thrown, not swallowed', onlyUpstream, async () => {
    for (const fault of ['cut-stream@3', 'error-mid@3', 'end-early@3']) {
      const stream = await chat(client, { model: `fault:${fault}`, stream: true })
      const read = async () => { for await (const c of stream) assert.ok(c) }
      await assert.rejects(read(), OpenAI.APIError, fault)
    }
  })

  it('before a stream have their status', onlyUpstream, async () => {
    const err = await chat(client, { model: 'fault:error-first', stream: true }).then(() => assert.fail('it was answered'), e => e)
    assert.ok(err.status >= 500, String(err))
  })

  it('time out on the client\'s side', onlyUpstream, async () => {
    const hasty = newClient({ timeout: 300 })
    await assert.rejects(chat(hasty, { model: 'fault:slow-head@5s' }), OpenAI.APIConnectionTimeoutError)
  })
})
