// What the common table does not say of the keeper: its start, its timers, background fetches and stores that fail.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryStorage } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { makeClient, ManualClock, MockNetwork, MockTarget, responseOf, settled } from './support.mjs';

const row = (slot, members = {}) => ({
  identifier: `ritual.${slot}.2026-11-22`, campaign: 'ritual', slot, fire_date: '2026-11-22', fire_at: '',
  local_time: `2026-11-22T${slot.slice(0, 2)}:${slot.slice(2)}:00`, title: 'T', body: 'B', category: 'C',
  thread_id: 't', data: {}, tolerance_seconds: 0, ...members,
});
const [morning, evening] = [row('0800'), row('2000')];
const read = 'GET /v1/schedule?days=7&max=64';

function scene({ scheduler: hooks = {}, flags = {}, storage = memoryStorage(), options = {} } = {}) {
  const clock = new ManualClock();
  const document = new MockTarget({ visibilityState: 'visible' });
  const window = new MockTarget();
  const state = { rows: [morning], hint: false, zone: 'UTC', isOnline: true };
  const network = new MockNetwork(({ line }) => {
    if (!state.isOnline) return 'offline';
    const [etag, body] = line === 'GET /v1/config' ? ['"c"', { flags, channels: [], categories: [] }]
      : line.startsWith('GET') ? ['"a"', { settings_hint: state.hint, rows: state.rows }]
      : [undefined, { accepted: 0, duplicates: 0, rejected: [] }];
    return responseOf({ status: 200, etag, body });
  });
  const held = new Map();
  const scheduler = {
    pending: async () => [...held.keys()],
    arm: async (armed, tolerance) => void held.set(armed.identifier, { ...armed, tolerance }),
    cancel: async (list) => list.forEach((identifier) => held.delete(identifier)),
    ...hooks,
  };
  const client = makeClient(network, { clock, document, window, storage, zone: () => state.zone });
  const start = async () => {
    const keeper = client.armSchedule(scheduler, { ...options, onError: (error) => (state.error = error) });
    await settled();
    return keeper;
  };
  const reads = () => network.lines.filter((line) => line === read).length;
  const codes = () => network.requests.filter(({ line }) => line.startsWith('POST')).flatMap(({ body }) => body.events)
    .map(({ code }) => code);
  return { clock, document, window, state, network, held, client, start, reads, codes };
}

describe('The keeper', () => {
  test('arms at its start, and again when the page becomes visible after 30 seconds', async () => {
    const { start, held, document, clock, reads } = scene();
    const keeper = await start();
    assert.deepEqual([...held.keys()], [morning.identifier]);
    document.emit('visibilitychange');
    await settled();
    assert.equal(reads(), 1);
    await clock.pass(clock.time + 30_000);
    assert.equal(reads(), 2);
    document.visibilityState = 'hidden';
    document.emit('visibilitychange');
    await clock.pass(clock.time + 31_000);
    assert.equal(reads(), 2);
    keeper.stop();
    assert.equal(clock.timers.size, 0);
  });

  for (const [slot, isCancelled] of [['0800', false], ['0801', true]]) {
    test(`at 08:00 a pending row of ${slot} that is gone is ${isCancelled ? 'cancelled' : 'left alone'}`, async () => {
      const { start, held, state, clock, network } = scene();
      state.rows = [row(slot)];
      const keeper = await start();
      state.rows = [];
      clock.time = Date.parse('2026-11-22T08:00:00Z');
      await keeper.keep();
      assert.equal(held.size, isCancelled ? 0 : 1);
      const events = network.requests.flatMap(({ body }) => body?.events ?? []);
      const due = Date.parse('2026-11-22T08:01:00Z');
      if (isCancelled) assert.deepEqual(events.map(({ whenMs }) => whenMs), [due, due]);
    });
  }

  test('reports the instant that the identifier of a cancelled notification names', async () => {
    const { start, held, codes, network } = scene();
    held.set('daily.2000.2026-11-22', {});
    await start();
    assert.deepEqual(codes(), ['cancelled', 'armed']);
    assert.equal(network.requests.at(-1).body.events[0].whenMs, Date.parse('2026-11-22T20:00:00Z'));
  });

  test('sends waiting events when the network is back', async () => {
    const { start, window, client, codes } = scene();
    await start();
    await client.record({ code: 'delivered', identifier: morning.identifier });
    window.emit('online');
    await settled();
    assert.deepEqual(codes(), ['armed', 'delivered']);
  });

  test('gives the scheduler the row, its instant and its tolerance', async () => {
    const { start, held, state } = scene();
    state.rows = [row('0800', { tolerance_seconds: 600 })];
    await start();
    const armed = held.get(morning.identifier);
    assert.deepEqual([armed.at, armed.tolerance, armed.title], [Date.parse('2026-11-22T08:00:00Z'), 600, 'T']);
  });

  test('asks for the rows of its device', async () => {
    const { start, network, client } = scene();
    client.deviceToken = 'AB';
    await start();
    assert.deepEqual(network.lines, [`${read}&device_token=ab`, 'POST /v1/telemetry']);
    assert.equal(network.requests[1].body.events[0].device_token, 'ab');
  });

  test('arms what a scheduler selects, and nothing else', async () => {
    const { start, held, state, codes } = scene({ scheduler: { select: (rows) => rows.slice(1) } });
    state.rows = [morning, evening];
    await start();
    assert.deepEqual([...held.keys()], [evening.identifier]);
    assert.deepEqual(codes(), ['armed']);
  });

  test('hands channels and categories to the system once', async () => {
    const prepared = [];
    const prepare = async ({ flags }) => prepared.push(flags);
    const { start, clock, document, network } = scene({ scheduler: { prepare }, flags: { a: 1 } });
    await start();
    network.answer = ({ line, tag }) => responseOf(
      line === 'GET /v1/config' && tag === '"c"' ? { status: 304 } : { status: 500 },
    );
    await clock.pass(clock.time + 30_000);
    document.emit('visibilitychange');
    await settled();
    assert.deepEqual(prepared, [{ a: 1 }]);
  });

  test('hands the stored configuration to the system when it starts offline', async () => {
    const storage = memoryStorage();
    const prepared = [];
    const scheduler = { prepare: async ({ flags }) => void prepared.push(flags) };
    (await scene({ scheduler, storage, flags: { a: 1 } }).start()).stop();
    const later = scene({ scheduler, storage });
    later.state.isOnline = false;
    await later.start();
    assert.deepEqual(prepared, [{ a: 1 }, { a: 1 }]);
    assert.equal(later.held.size, 1);
  });

  for (const [seconds, isUsed] of [[60, true], [61, false]]) {
    test(`after ${seconds} s offline ${isUsed ? 'uses' : 'does not use'} a window that counts for 60 s`, async () => {
      const scheduler = { prepare: async () => {} };
      const { start, clock, held, state, document } = scene({ scheduler, flags: { ttlSeconds: 60 } });
      await start();
      held.clear();
      state.isOnline = false;
      clock.time += seconds * 1000;
      document.emit('visibilitychange');
      await settled();
      assert.equal(held.size, isUsed ? 1 : 0);
    });
  }

  test('tells the app once how its user allows exact alarms', async () => {
    let [hints, opened] = [0, 0];
    const { start, clock, document, held } = scene({
      scheduler: { exactAlarms: async () => false, openSettings: () => (opened += 1) },
      options: { onSettingsHint: (open) => ((hints += 1), open()) },
    });
    await start();
    await clock.pass(clock.time + 30_000);
    document.emit('visibilitychange');
    await settled();
    assert.deepEqual([hints, opened], [1, 1]);
    assert.equal(held.get(morning.identifier).tolerance, 600);
  });

  test('passes the service’s hint on', async () => {
    let hints = 0;
    const { start, state } = scene({ options: { onSettingsHint: () => (hints += 1) } });
    state.hint = true;
    await start();
    assert.equal(hints, 1);
  });

  for (const zone of ['Asia/Tokyo', 'UTC']) {
    test(`a minute later, in the zone ${zone}, has ${zone === 'UTC' ? 'not run' : 'run'} again`, async () => {
      const { start, state, clock, reads } = scene();
      const keeper = await start();
      state.zone = zone;
      await clock.pass(clock.time + 60_000);
      assert.equal(reads(), zone === 'UTC' ? 1 : 2);
      keeper.stop();
      assert.equal(clock.timers.size, 0);
    });
  }

  test('goes on without a store, and reports that', async () => {
    const fails = async () => { throw new Error('busy'); };
    const { start, held, clock, document, codes } = scene({ storage: { get: fails, set: fails, remove: fails } });
    await start();
    assert.equal(held.size, 1);
    await clock.pass(clock.time + 30_000);
    document.emit('visibilitychange');
    await settled();
    assert.deepEqual(codes().filter((code) => code !== 'STORAGE_BUSY'), ['armed']);
    assert(codes().includes('STORAGE_BUSY'));
  });

  test('tells the app of a scheduler that fails, and arms the rest next time', async () => {
    let isBroken = true;
    const { start, state, clock, document, held } = scene();
    state.rows = [morning, evening];
    const keeper = await (async () => {
      const set = held.set.bind(held);
      held.set = (key, value) => {
        if (isBroken && key === evening.identifier) throw new Error('no room');
        return set(key, value);
      };
      return start();
    })();
    assert.equal(state.error.message, 'no room');
    isBroken = false;
    await clock.pass(clock.time + 30_000);
    document.emit('visibilitychange');
    await settled();
    assert.equal(held.size, 2);
    keeper.stop();
  });
});

describe('A background fetch', () => {
  for (const [flags, reads, armed] of [
    [{ prefetchRunner: 'none', runnerRearm: true }, 0, 0], [{}, 0, 0],
    [{ prefetchRunner: 'background-runner', runnerRearm: false }, 1, 0],
    [{ prefetchRunner: 'background-runner', runnerRearm: true }, 1, 1],
  ]) {
    test(`with the flags ${JSON.stringify(flags)} reads ${reads} times and arms ${armed} rows`, async () => {
      const found = scene({ flags, scheduler: { prepare: async () => {} } });
      const keeper = await found.start();
      found.state.rows = [morning, evening];
      const [readsBefore, heldBefore] = [found.reads(), found.held.size];
      assert.equal(await keeper.prefetch(), reads > 0);
      assert.deepEqual([found.reads() - readsBefore, found.held.size - heldBefore], [reads, armed]);
      // What was fetched is armed by the next run, also offline.
      found.state.isOnline = false;
      await keeper.keep();
      assert.equal(found.held.size, reads > 0 ? 2 : 1);
    });
  }
});
