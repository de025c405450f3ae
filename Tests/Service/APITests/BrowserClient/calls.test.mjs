// The cases of `call-cases.json`, which the Swift client runs too, and what only this client does.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TacetClient, TacetError } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { cases, makeClient, MockNetwork, responseOf, scripted } from './support.mjs';

const calls = {
  register: (client, device) => client.register(device),
  removeDevice: (client, { token }) => client.removeDevice(token),
  markRead: (client, { conversation, up_to: upTo, device_token: deviceToken }) =>
    client.markRead(conversation, { upTo, deviceToken }),
  active: (client) => client.active(),
  opened: (client, { id }) => client.opened(id),
  look: (client, surface) => client.look(surface),
  leave: (client, surface) => client.leave(surface),
  schedule: (client, { days, max, device_token: deviceToken, tag }) =>
    client.schedule({ days, max, deviceToken, ...(tag && { unless: { tag } }) }),
  configuration: (client, { tag }) => client.configuration(tag && { unless: { tag } }),
  slots: (client, { campaign }) => client.slots(campaign),
  choose: (client, { campaign, slots }) => client.choose(slots, campaign),
  deliver: (client, { campaign, slot }) => client.deliver(slot, campaign),
  reportAction: (client, action) => client.reportAction(action),
  reportEvents: (client, { events }) => client.reportEvents(events),
  preferences: (client) => client.preferences(),
  setPreferences: (client, { preferences }) => client.setPreferences(preferences),
};

function includes(found, expected) {
  if (expected === null) return assert.equal(found, null);
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(found[name], value, name);
}

async function play(given, { do: name, args, server, expect }) {
  const network = new MockNetwork(scripted(server));
  const pauses = [];
  const client = makeClient(network, { ...given, sleep: async (seconds) => void pauses.push(seconds) });
  let [result, error] = [];
  try { result = await calls[name](client, args); } catch (thrown) { error = thrown; }
  assert.equal(error?.code, expect.error, error?.stack);
  assert.equal(error?.field, expect.field);
  if ('result' in expect) includes(result, expect.result);
  if (expect.pauses) assert.deepEqual(pauses, expect.pauses);
  assert.deepEqual(network.lines, expect.requests.map((request) => request.line));
  for (const [index, { body, if_none_match: tag = null }] of expect.requests.entries()) {
    if (body) assert.deepEqual(network.requests[index].body, body);
    assert.equal(network.requests[index].tag, tag);
  }
}

describe('Calls, by the common table', () => {
  for (const { name, given, steps, only } of cases('call-cases')) {
    test(name, { skip: only === 'swift' }, async () => {
      for (const step of steps) await play(given, step);
    });
  }
});

describe('Calls', () => {
  test('each request has the token, and neither cookies nor redirects', async () => {
    const network = new MockNetwork(scripted({ status: 204 }));
    await makeClient(network).active();
    const [{ authorization, options }] = network.requests;
    assert.equal(authorization, 'Bearer t0ken');
    assert.deepEqual([options.redirect, options.credentials, options.cache], ['error', 'omit', 'no-store']);
  });

  test('leaving is kept alive when the page closes', async () => {
    const network = new MockNetwork(scripted({ status: 204 }));
    await makeClient(network).leave({ kind: 'conversation', id: '7' });
    assert.equal(network.requests[0].options.keepalive, true);
  });

  for (const [id, path] of [['17', '17'], ['a/b', 'a%2Fb'], ['a?b#c', 'a%3Fb%23c'], ['...', '...'], ['ä', '%C3%A4']]) {
    test(`the id ${id} is one segment of the path`, async () => {
      const network = new MockNetwork(scripted({ status: 204 }));
      await makeClient(network).look({ kind: 'conversation', id });
      assert.equal(network.requests[0].url, `https://push.example.com/v1/conversations/${path}/last-seen`);
    });
  }

  for (const id of ['', '.', '..']) {
    test(`the id "${id}" would leave the path and is not sent`, async () => {
      const network = new MockNetwork(scripted({ status: 204 }));
      await assert.rejects(makeClient(network).look({ kind: 'conversation', id }), TypeError);
      assert.deepEqual(network.requests, []);
    });
  }

  for (const [name, members] of [
    ['flags', { flags: [] }], ['channels', { channels: {} }], ['a channel', { channels: [{ id: 'c', name: 1 }] }],
    [
      'categories', { categories: [null] },
    ], ['an action', { categories: [{ id: 'c', actions: [{ id: 'a', title: 't' }] }] }],
    ['many categories', { categories: Array(1001).fill({ id: 'c', actions: [] }) }],
  ]) {
    test(`a configuration with ${name} of another form is refused`, async () => {
      const body = { flags: {}, channels: [], categories: [], ...members };
      const network = new MockNetwork(scripted({ status: 200, body }));
      await assert.rejects(makeClient(network).configuration(), { code: 'refused' });
    });
  }

  test('a request is given up after 15 seconds', async () => {
    let end;
    const network = new MockNetwork(({ options }) => new Promise((_, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason));
    }));
    const timers = { setTimeout: (work, wait) => ((end = { work, wait }), 1), clearTimeout: () => {} };
    const call = makeClient(network, timers).look({ kind: 'conversation', id: '1' });
    while (network.requests.length === 0) await null;
    assert.equal(end.wait, 15_000);
    end.work();
    await assert.rejects(call, { code: 'unreachable' });
  });

  test('an answer of more than 1 MiB is refused', async () => {
    const network = new MockNetwork(() => new Response('x'.repeat(1024 * 1024 + 1)));
    await assert.rejects(makeClient(network).preferences(), { code: 'refused' });
  });

  test('an answer of exactly 1 MiB is read', async () => {
    const network = new MockNetwork(() => new Response(`{${' '.repeat(1024 * 1024 - 2)}}`));
    assert.deepEqual(await makeClient(network).preferences(), {});
  });

  const problems = [['no JSON', 'x'], ['a list', '[]'], ['a number as its detail', '{"detail":1,"field":2}']];
  for (const [name, body] of problems) {
    test(`a problem that is ${name} has no detail`, async () => {
      const network = new MockNetwork(() => new Response(body, { status: 400 }));
      await assert.rejects(makeClient(network).active(), { code: 'refused', status: 400, detail: undefined });
    });
  }

  test('the detail of a problem is for developers', async () => {
    const body = { title: 'Bad Request', detail: 'no', field: 'x' };
    const network = new MockNetwork(scripted({ status: 400, body }));
    await assert.rejects(makeClient(network).active(), { message: 'no', detail: 'no', field: 'x' });
  });

  test('an origin may have a path and a slash at its end, and must be of the web', async () => {
    const network = new MockNetwork(scripted({ status: 204 }));
    const token = () => 't';
    await new TacetClient({ origin: 'http://h/push/', token, platform: { fetch: network.fetch } }).active();
    assert.equal(network.requests[0].url, 'http://h/push/v1/activity');
    assert.throws(() => new TacetClient({ origin: 'file:///x', token }), TypeError);
    assert.throws(() => new TacetClient({ origin: '/x', token }), TypeError);
  });

  for (const token of ['', undefined, 7]) {
    test(`the token ${JSON.stringify(token)} is none`, async () => {
      const network = new MockNetwork(scripted({ status: 204 }));
      const client = new TacetClient({
        origin: 'http://h', token: () => token, platform: { fetch: network.fetch, sleep: async () => {} },
      });
      await assert.rejects(client.active(), { code: 'no_token' });
    });
  }

  test('a device says its language and zone by itself', async () => {
    const network = new MockNetwork(scripted({ status: 204 }));
    await makeClient(network, { zone: 'Asia/Tokyo', navigator: { language: 'ja' } }).register({ token: 'AA' });
    assert.deepEqual(network.requests[0].body, { locale: 'ja', time_zone: 'Asia/Tokyo' });
  });

  test('an action that finds no network waits and is sent with the next flush', async () => {
    const network = new MockNetwork(() => 'offline');
    const client = makeClient(network);
    assert.equal(await client.takeAction('DID_THIS', 'ritual.0800.2026-11-22'), null);
    assert.equal(await client.waitingReports(), 1);
    network.answer = () => responseOf({ status: 200, body: { streak: 4 } });
    await client.flush();
    assert.equal(await client.waitingReports(), 0);
    assert.deepEqual(network.requests.at(-1).body, network.requests[0].body);
  });

  test('an action that is taken at once has the answer of its campaign, and a refused one is an error', async () => {
    const network = new MockNetwork(scripted([{ status: 200, body: { streak: 4 } }, { status: 400 }]));
    const client = makeClient(network);
    assert.deepEqual(await client.takeAction('DID_THIS', 'ritual.0800.2026-11-22'), { streak: 4 });
    await assert.rejects(client.takeAction('DID_THIS', 'ritual.0800.2026-11-22'), TacetError);
    assert.equal(await client.waitingReports(), 0);
  });
});
