import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { responseOf } from './support.mjs';
import { pushOf, WorkerScene } from './worker-scene.mjs';

describe('Reports of the worker', () => {
  async function clicks(scene, count) {
    for (let index = 0; index < count; index += 1) {
      await scene.push(pushOf());
      await scene.click();
    }
  }

  test('wait without a network, and leave with the next sign of life', async () => {
    const scene = new WorkerScene();
    scene.network.answer = () => 'offline';
    await clicks(scene, 2);
    assert.equal(scene.database.values.get('reports').length, 2);
    assert(scene.syncs.every((tag) => tag === 'tacet-reports') && scene.syncs.length >= 2);
    scene.network.requests.length = 0;
    scene.network.answer = () => responseOf({ status: 204 });
    await scene.emit('sync', { tag: 'another' });
    assert.deepEqual(scene.reports, []);
    await scene.emit('sync', { tag: 'tacet-reports' });
    assert.equal(scene.reports.length, 2);
    assert.deepEqual(scene.database.values.get('reports'), []);
  });

  test('leave with the next push where there is no background sync', async () => {
    const scene = new WorkerScene();
    scene.self.registration.sync = undefined;
    scene.network.answer = () => 'offline';
    await clicks(scene, 1);
    scene.network.requests.length = 0;
    scene.network.answer = () => responseOf({ status: 204 });
    await scene.push(pushOf());
    assert.equal(scene.reports.length, 1);
  });

  for (const [status, left] of [
    [204, 0], [400, 0], [413, 0], [422, 0], [401, 1], [403, 1], [404, 1], [408, 1], [429, 1], [500, 1], [503, 1],
  ]) {
    test(`${left ? 'wait after' : 'are done with'} ${status}`, async () => {
      const scene = new WorkerScene();
      scene.network.answer = () => responseOf({ status });
      await clicks(scene, 1);
      assert.equal(scene.database.values.get('reports').length, left);
    });
  }

  for (const [count, batches] of [[100, [100]], [101, [100, 1]], [200, [100, 100]], [201, [100, 100]]]) {
    test(`${count} that wait are ${batches.length} requests`, async () => {
      const scene = new WorkerScene();
      scene.network.answer = () => 'offline';
      await clicks(scene, count);
      scene.network.requests.length = 0;
      scene.network.answer = () => responseOf({ status: 204 });
      await scene.emit('sync', { tag: 'tacet-reports' });
      assert.deepEqual(scene.network.requests.map(({ body }) => body.events.length), batches);
    });
  }

  test('wait without a subscription', async () => {
    const scene = new WorkerScene({ subscription: null });
    await clicks(scene, 1);
    assert.deepEqual(scene.network.requests, []);
    assert.equal(scene.database.values.get('reports').length, 1);
  });

  test('are kept beside rubbish in the database', async () => {
    const scene = new WorkerScene();
    scene.database.values.set('reports', [null, 7]);
    await clicks(scene, 1);
    assert.equal(scene.reports.length, 1);
    scene.database.values.set('reports', 'x');
    await clicks(scene, 1);
    assert.equal(scene.reports.length, 2);
  });
});

describe('A subscription that has ended', () => {
  const made = (endpoint = 'https://new') => ({
    toJSON: () => ({ endpoint, keys: { p256dh: 'p', auth: 'a' }, expirationTime: null }),
  });

  const key = Buffer.alloc(65, 4).toString('base64url');
  const keyBytes = (byte) => Uint8Array.from(Buffer.alloc(65, byte)).buffer;

  async function changed(scene, members = {}, served = key) {
    scene.subscribe = (options) => ((scene.subscribed = options), made());
    scene.network.answer = ({ line }) =>
      responseOf({ status: 200, body: line === 'GET /v1/web-push/key' ? { public_key: served } : { fetch_token: 'new' } });
    await scene.emit('pushsubscriptionchange', members);
  }

  test('is made anew with the key that the service has now, and reported', async () => {
    const scene = new WorkerScene();
    await changed(scene, { oldSubscription: { options: { applicationServerKey: keyBytes(5) } } });
    assert.deepEqual({ ...scene.subscribed }, { userVisibleOnly: true, applicationServerKey: key });
    const [asked, { line, body, authorization }] = scene.network.requests;
    assert.deepEqual([asked.line, asked.authorization], ['GET /v1/web-push/key', null]);
    assert.deepEqual([line, authorization], ['PUT /v1/web-push/subscriptions', 'Bearer f3tch']);
    assert.deepEqual(body, { endpoint: 'https://new', keys: { p256dh: 'p', auth: 'a' } });
    assert.deepEqual(
      scene.database.values.get('web_push'), { endpoint: 'https://new', fetch_token: 'new', public_key: key },
    );
  });

  for (const options of [undefined, {}, { applicationServerKey: keyBytes(4) }]) {
    test(`is only reported if the browser has made a new one ${options?.applicationServerKey ? 'for the key' : 'and does not say for which key'}`, async () => {
      const scene = new WorkerScene();
      const toJSON = () => ({ ...made().toJSON(), expirationTime: 1_795_330_800_000 });
      await changed(scene, { newSubscription: { toJSON, options } });
      assert.equal(scene.subscribed, undefined);
      assert.equal(scene.network.requests[1].body.expiration_time, '2026-11-22T07:00:00.000Z');
    });
  }

  test('is made anew if the browser has made one for a former key', async () => {
    const scene = new WorkerScene();
    let ended = 0;
    const newSubscription = {
      ...made('https://former'), options: { applicationServerKey: keyBytes(5) }, unsubscribe: async () => (ended += 1),
    };
    await changed(scene, { newSubscription });
    assert.deepEqual([ended, scene.subscribed.applicationServerKey], [1, key]);
    assert.equal(scene.network.requests[1].body.endpoint, 'https://new');
  });

  test('stays ended without a key', async () => {
    const scene = new WorkerScene();
    await changed(scene, {}, 'none');
    assert.deepEqual([scene.subscribed, scene.network.requests.length], [undefined, 1]);
  });

  for (const [name, answer] of [['a refusal', () => responseOf({ status: 401 })], ['no network', () => 'offline']]) {
    test(`is left to the page's next start after ${name}`, async () => {
      const scene = new WorkerScene();
      scene.subscribe = () => made();
      scene.network.answer = answer;
      await scene.emit('pushsubscriptionchange');
      assert.equal(scene.database.values.get('web_push').endpoint, 'https://old');
    });
  }
});
