import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'

// recorded answers with a stream that the gateway wrote for responses of providers
// that have none of their own.
async function recorded(name, use) {
  const stream = await readFile(new URL(`../../../internal/dialect/responses/testdata/${name}.sse`, import.meta.url))
  const server = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end(stream))
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  try {
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: 'sk-none', maxRetries: 0 })
    return await use(client)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const question = { model: 'm', input: 'x' }

describe('streams of responses', () => {
  for (const name of ['answer', 'refusal', 'cut']) {
    it(`${name}: the pieces add up to what the end says`, () => recorded(name, async client => {
      let pieces, last
      for await (const event of await client.responses.create({ ...question, stream: true })) {
        if (event.type === 'response.completed' || event.type === 'response.incomplete') last = event.response
        else pieces = accumulateResponse(event, pieces)
      }
      assert.deepEqual(pieces.output, last.output)
      const final = await client.responses.stream(question).finalResponse()
      assert.equal(final.status, last.status)
      assert.equal(final.output_text, pieces.output_text ?? '')
    }))
  }

  it('fault: the client tells of it in the words of the provider', () => recorded('fault', async client => {
    const events = []
    for await (const event of await client.responses.create({ ...question, stream: true })) events.push(event)
    assert.deepEqual(events.slice(-2).map(event => event.type), ['error', 'response.failed'])
    assert.equal(events.at(-1).response.error.message, 'Overloaded')
    assert.equal(events.at(-1).response.output[0].content[0].text, 'Once upon a')
    await assert.rejects(client.responses.stream(question).finalResponse(), { message: 'Overloaded', code: 'overloaded_error' })
  }))
})
