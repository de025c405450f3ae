// The cases of `telemetry-cases.json`, which the Swift client runs too.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryStorage } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { cases, makeClient, ManualClock, MockNetwork, responseOf, scripted } from './support.mjs';

const idOf = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function numbers(range) {
  const [first, last] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function rangeOf(events) {
  const found = events.map(({ id }) => Number(id.slice(-12)));
  assert.deepEqual(found, numbers(`${found[0]}-${found.at(-1)}`));
  return `${found[0]}-${found.at(-1)}`;
}

class Scene {
  constructor({ now, stored, token_bytes: tokenBytes }) {
    this.clock = new ManualClock(now);
    this.deviceToken = tokenBytes && 'ab'.repeat(tokenBytes);
    this.storage = memoryStorage();
    if (stored) for (const key of ['tacet.events', 'tacet.actions']) this.storage.set(key, stored);
    this.network = new MockNetwork(() => this.answer());
    this.restart();
  }

  restart() {
    this.client = makeClient(this.network, { clock: this.clock, storage: this.storage });
    this.client.deviceToken = this.deviceToken;
  }

  async perform({ do: what, events, at, server }) {
    if (at) this.clock.time = Date.parse(at);
    this.network.requests.length = 0;
    const full = { accepted: 0, duplicates: 0, rejected: [] };
    const answers = [server ?? { status: 200 }].flat();
    this.answer = scripted(answers.map((answer) => (answer.status === 200 ? { body: full, ...answer } : answer)));
    if (what === 'record') {
      const made = numbers(events).map((number) => ({ code: 'delivered', slot: '0800', id: idOf(number) }));
      await this.client.record(...made);
    }
    if (what === 'flush' || what === 'online') await this.client.flush();
    if (what === 'flush_twice') await Promise.all([this.client.flush(), this.client.flush()]);
    if (what === 'restart') this.restart();
    if (what === 'clear') await this.client.forgetReports();
  }

  async check({ batches, batches_min: batchesMin, bytes_max: bytesMax, queued }) {
    const found = this.network.requests.map(({ body }) => rangeOf(body.events));
    if (batches) assert.deepEqual(found, batches);
    if (batchesMin) assert(found.length >= batchesMin);
    for (const { options } of this.network.requests) assert(options.body.length <= (bytesMax ?? 65_536));
    if (queued !== undefined) assert.equal(await this.client.waitingReports(), queued);
  }
}

describe('Events, by the common table', () => {
  for (const { name, given, steps, only } of cases('telemetry-cases')) {
    test(name, { skip: only === 'swift' }, async () => {
      const scene = new Scene(given);
      for (const step of steps) {
        await scene.perform(step);
        await scene.check(step.expect);
      }
    });
  }
});

describe('Events', () => {
  const row = 'ritual.0800.2026-11-22';

  test('an event says the circumstances of its device', async () => {
    const body = { accepted: 1, duplicates: 0, rejected: [] };
    const network = new MockNetwork(() => responseOf({ status: 200, body }));
    const client = makeClient(network, {
      zone: 'America/New_York', navigator: { onLine: false }, document: { visibilityState: 'hidden' },
    });
    client.deviceToken = 'AB';
    await client.record({ code: 'armed', identifier: row, due: 1_795_330_800_000.4 });
    await client.flush();
    const [{ id, ...event }] = network.requests[0].body.events;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(event, {
      code: 'armed', slotId: '0800', identifier: row, device_token: 'ab', whenMs: 1_795_330_800_000, attempt: 1,
      networkState: 'offline', tzOffset: -300, appState: 'background', timestamp: Date.parse('2026-11-22T06:00:00Z'),
    });
  });

  for (const [due, when] of [
    [-1, 0], [0, 0], [32_503_680_000_000, 32_503_680_000_000], [1e300, 32_503_680_000_000], [NaN, 0],
  ]) {
    test(`a due time of ${due} is reported as ${when}`, async () => {
      const network = new MockNetwork(() => responseOf({ status: 400 }));
      const client = makeClient(network);
      await client.record({ code: 'armed', identifier: row, due });
      await client.flush();
      assert.equal(network.requests[0].body.events[0].whenMs, when);
    });
  }

  for (const event of [
    { code: 'lost' }, { code: 'armed', identifier: 'x' }, { code: 'armed', slot: '2400' }, { code: 'armed', id: '1' },
    { code: 'armed', attempt: 0.5 }, { code: 'armed', attempt: 2 ** 31 },
  ]) {
    test(`${JSON.stringify(event).slice(0, 60)} is a mistake of the app`, async () => {
      const client = makeClient(new MockNetwork(() => 'offline'));
      await assert.rejects(client.record(event), TypeError);
      assert.equal(await client.waitingReports(), 0);
    });
  }

  for (const [identifier, isRow] of [
    ['a.0000.2000-01-01', true], ['a9_z.2359.2999-12-31', true], [`a${'b'.repeat(62)}.0959.2026-11-22`, true],
    [`a${'b'.repeat(63)}.0959.2026-11-22`, false], ['a.2400.2026-11-22', false], ['a.0060.2026-11-22', false],
    [
      'A.0000.2026-11-22', false,
    ], ['9.0000.2026-11-22', false], ['.0000.2026-11-22', false], ['a.0000.1999-12-31', false],
    ['a.0000.2026-11-22.', false], ['a.0000.2026-11-22\n', false], ['a.0000', false],
  ]) {
    test(`${JSON.stringify(identifier).slice(0, 30)} is ${isRow ? 'an' : 'no'} identifier of a row`, async () => {
      const client = makeClient(new MockNetwork(() => 'offline'));
      const recorded = client.record({ code: 'delivered', slot: '0800', identifier });
      await (isRow ? recorded : assert.rejects(recorded, TypeError));
      assert.equal(await client.waitingReports(), isRow ? 1 : 0);
    });
  }

  for (const [action, isKept] of [['A'.repeat(64), true], ['A'.repeat(65), false], ['', false], ['a b', false]]) {
    test(`the action "${action.slice(0, 3)}" of ${action.length} ${isKept ? 'waits' : 'is refused'}`, async () => {
      const client = makeClient(new MockNetwork(() => 'offline'));
      const taken = client.takeAction(action, row);
      await (isKept ? taken : assert.rejects(taken, TypeError));
      assert.equal(await client.waitingReports(), isKept ? 1 : 0);
    });
  }

  test('the device token is in requests and never in the store', async () => {
    const storage = memoryStorage();
    const client = makeClient(new MockNetwork(() => 'offline'), { storage });
    client.deviceToken = 'abcdef';
    await client.record({ code: 'armed', identifier: row });
    await client.flush();
    assert(!(await storage.get('tacet.events')).includes('abcdef'));
  });

  for (const token of ['', 'abc', 'xy', 'ab'.repeat(257)]) {
    test(`a device token of ${token.length} characters like ${token.slice(0, 3)} is a mistake of the app`, () => {
      const client = makeClient(new MockNetwork(() => 'offline'));
      assert.throws(() => (client.deviceToken = token), TypeError);
    });
  }

  test('a device that is registered reports its events, and one that is removed does not', async () => {
    const client = makeClient(new MockNetwork(() => responseOf({ status: 204 })));
    await client.register({ token: 'AB' });
    assert.equal(client.deviceToken, 'ab');
    await client.removeDevice('cd');
    assert.equal(client.deviceToken, 'ab');
    await client.removeDevice('Ab');
    assert.equal(client.deviceToken, undefined);
  });

  test('a store that fails leaves events in memory', async () => {
    const fails = async () => { throw new Error('busy'); };
    const client = makeClient(new MockNetwork(() => 'offline'), { storage: { get: fails, set: fails, remove: fails } });
    await client.record({ code: 'delivered', identifier: row });
    assert.equal(await client.waitingReports(), 1);
  });
});
