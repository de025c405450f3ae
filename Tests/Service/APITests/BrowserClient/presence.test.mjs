import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeClient, ManualClock, MockNetwork, MockTarget, responseOf, settled } from './support.mjs';

const chat = { kind: 'conversation', id: '1' };
const question = { kind: 'question', id: '2' };
const [look, leave] = ['PUT /v1/conversations/1/last-seen', 'DELETE /v1/conversations/1/last-seen'];

/** A page with a manual clock, on which all calls are answered by `answer`. */
function page(answer = () => responseOf({ status: 204 })) {
  const clock = new ManualClock();
  const network = new MockNetwork(answer);
  const document = new MockTarget({ visibilityState: 'visible' });
  const window = new MockTarget();
  const client = makeClient(network, { clock, document, window });
  const turn = async (state) => {
    document.visibilityState = state;
    document.emit('visibilitychange');
    await settled();
  };
  const pass = (seconds) => clock.pass(clock.time + seconds * 1000);
  const show = async (surface) => {
    client.presence.show(surface);
    await settled();
  };
  return { clock, network, window, client, turn, pass, show };
}

describe('Presence', () => {
  test('is reported at once and every 20 seconds', async () => {
    const { network, show, pass } = page();
    await show(chat);
    assert.deepEqual(network.lines, [look]);
    await pass(19.999);
    assert.equal(network.lines.length, 1);
    await pass(0.001);
    await pass(20);
    assert.deepEqual(network.lines, [look, look, look]);
  });

  test('ends when nothing is shown', async () => {
    const { network, show, pass, clock } = page();
    await show(chat);
    await show(null);
    await pass(60);
    assert.deepEqual(network.lines, [look, leave]);
    assert.equal(clock.timers.size, 0);
  });

  test('ends when the page is hidden, with a request that outlives it, and begins again with it', async () => {
    const { network, show, turn, pass } = page();
    await show(chat);
    await turn('hidden');
    assert.deepEqual(network.lines, [look, leave]);
    assert.equal(network.requests[1].options.keepalive, true);
    await pass(60);
    assert.equal(network.lines.length, 2);
    await turn('visible');
    await turn('visible');
    assert.deepEqual(network.lines, [look, leave, look]);
  });

  test('ends when the page closes, and begins again when it comes back from the cache', async () => {
    const { network, show, window } = page();
    await show(chat);
    window.emit('pagehide');
    await settled();
    window.emit('pageshow');
    await settled();
    assert.deepEqual(network.lines, [look, leave, look]);
  });

  test('of a surface that is shown on a hidden page begins with the page', async () => {
    const { network, show, turn } = page();
    await turn('hidden');
    await show(chat);
    assert.deepEqual(network.lines, []);
    await turn('visible');
    assert.deepEqual(network.lines, [look]);
  });

  test('moves from one surface to another, and the same one again changes nothing', async () => {
    const { network, show } = page();
    await show(chat);
    await show({ ...chat });
    await show({ ...question, id: chat.id });
    await show(question);
    const lines = ['PUT', 'DELETE'].map((method) => `${method} /v1/surfaces/question/1/last-seen`);
    assert.deepEqual(network.lines, [look, leave, ...lines, 'PUT /v1/surfaces/question/2/last-seen']);
  });

  test('ends a report under way when the page is hidden, so that leaving is not late', async () => {
    const answer = ({ line, options }) => line === look
      ? new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(new Error('aborted'))))
      : responseOf({ status: 204 });
    const { network, show, turn, pass } = page(answer);
    await show(chat);
    await turn('hidden');
    assert.deepEqual(network.lines, [look, leave]);
    await pass(60);
    assert.equal(network.lines.length, 2);
  });

  test('is reported after a leaving that is still under way', async () => {
    let end;
    const answer = ({ line }) => line === leave
      ? new Promise((resolve) => (end = () => resolve(responseOf({ status: 204 }))))
      : responseOf({ status: 204 });
    const { network, show, turn } = page(answer);
    await show(chat);
    await turn('hidden');
    await turn('visible');
    assert.deepEqual(network.lines, [look, leave]);
    end();
    await settled();
    assert.deepEqual(network.lines, [look, leave, look]);
  });

  for (const answer of ['offline', { status: 503 }, { status: 401 }]) {
    test(`goes on after ${answer.status ?? answer}`, async () => {
      const { network, show, pass } = page(() => responseOf(answer));
      await show(chat);
      await pass(20);
      assert.deepEqual(network.lines, [look, look]);
    });
  }

  for (const status of [403, 404, 400]) {
    test(`ends after ${status} until it is shown again`, async () => {
      const { network, show, pass } = page(() => responseOf({ status }));
      await show(chat);
      await pass(60);
      assert.deepEqual(network.lines, [look]);
      await show(chat);
      assert.deepEqual(network.lines, [look, look]);
    });
  }

  test('stops for good', async () => {
    const { network, show, turn, client, pass } = page();
    await show(chat);
    client.presence.stop();
    await turn('hidden');
    await turn('visible');
    await pass(60);
    assert.deepEqual(network.lines, [look, leave]);
  });
});
