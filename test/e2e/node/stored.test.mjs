import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { model, newClient, onlyUpstream } from './client.mjs'

const client = newClient()
const lines = ['one', 'two', 'three'].map((word, i) => JSON.stringify({
  custom_id: `line-${i}`, method: 'POST', url: '/v1/chat/completions',
  body: { model, messages: [{ role: 'user', content: `Say ${word}` }] },
})).join('\n')

const upload = (purpose = 'batch') => OpenAI.toFile(Buffer.from(lines), 'lines.jsonl', { type: 'application/jsonl' })
  .then(file => client.files.create({ file, purpose }))

describe('files', () => {
  it('are kept, listed, read and deleted', async () => {
    const file = await upload()
    assert.equal(file.bytes, lines.length)
    assert.equal(file.filename, 'lines.jsonl')
    const listed = []
    for await (const f of client.files.list()) listed.push(f.id)
    assert.ok(listed.includes(file.id))
    assert.equal((await client.files.retrieve(file.id)).id, file.id)
    assert.equal(await (await client.files.content(file.id)).text(), lines)
    assert.equal((await client.files.delete(file.id)).deleted, true)
    await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError)
  })
})

describe('batches', () => {
  it('run to their end', onlyUpstream, async () => {
    const file = await upload()
    let batch = await client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { run: 'e2e' } })
    for (let tries = 0; tries < 20 && batch.status !== 'completed'; tries++) batch = await client.batches.retrieve(batch.id)
    assert.equal(batch.status, 'completed')
    assert.deepEqual(batch.request_counts, { total: 3, completed: 3, failed: 0 })
    const out = await (await client.files.content(batch.output_file_id)).text()
    const answers = out.trim().split('\n').map(JSON.parse)
    assert.deepEqual(answers.map(a => a.custom_id), ['line-0', 'line-1', 'line-2'])
    assert.match(answers[2].response.body.choices[0].message.content, /^You said: "Say three"/)
  })

  it('are made, listed and cancelled', async () => {
    const file = await upload()
    const batch = await client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' })
    const ids = []
    for await (const b of client.batches.list({ limit: 20 })) ids.push(b.id)
    assert.ok(ids.includes(batch.id))
    const cancelled = await client.batches.cancel(batch.id)
    assert.match(cancelled.status, /^cancel/)
  })
})

describe('fine-tuning', () => {
  it('jobs are made, listed, shown and cancelled', onlyUpstream, async () => {
    const file = await upload('fine-tune')
    const job = await client.fineTuning.jobs.create({ model, training_file: file.id })
    const ids = []
    for await (const j of client.fineTuning.jobs.list()) ids.push(j.id)
    assert.ok(ids.includes(job.id))
    assert.equal((await client.fineTuning.jobs.retrieve(job.id)).training_file, file.id)
    assert.equal((await client.fineTuning.jobs.cancel(job.id)).status, 'cancelled')
  })
})
