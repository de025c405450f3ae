import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { responseOf } from './support.mjs';
import { origin, pushID, pushOf, WorkerScene } from './worker-scene.mjs';

const titles = (scene) => scene.shown.map(({ title }) => title);

describe('The worker shows a push', () => {
  test('with its text, its tag and what a click needs', async () => {
    const scene = new WorkerScene({ search: '?icon=/icon.png' });
    await scene.push(pushOf({ lang: 'de', actions: [{ action: 'OPEN', title: 'Open', navigate: '/x' }] }));
    const [{ title, body, tag, silent, icon, lang, actions, data }] = scene.shown;
    assert.match(data.tacet.id, /^[0-9a-f-]{36}$/);
    delete data.tacet.id;
    assert.deepEqual([title, body, tag, silent, icon, lang], ['Ada', 'Hello', 't1', false, '/icon.png', 'de']);
    assert.deepEqual(actions, [{ action: 'OPEN', title: 'Open' }]);
    assert.deepEqual(data, {
      push_log_id: pushID, tacet: { navigate: `${origin}/chats/1`, actions: { $OPEN: `${origin}/x` } },
    });
    assert.deepEqual(scene.network.requests, []);
  });

  test('after it has closed the one of the same tag, which iOS would stack', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    await scene.push(pushOf({ title: 'Bob' }));
    await scene.push(pushOf({ title: 'Eve', tag: 't2' }));
    assert.deepEqual(titles(scene), ['Bob', 'Eve']);
  });

  test('beside the app’s own notification of the same tag', async () => {
    const scene = new WorkerScene();
    await scene.self.registration.showNotification('App', { tag: 't1', data: null });
    await scene.push(pushOf());
    assert.deepEqual(titles(scene), ['App', 'Ada']);
  });

  test('also when the tags cannot be listed', async () => {
    const scene = new WorkerScene();
    scene.self.registration.getNotifications = async () => { throw new Error('no'); };
    await scene.push(pushOf());
    assert.deepEqual(titles(scene), ['Ada']);
  });

  test('with less of it when the system refuses a part', async () => {
    const scene = new WorkerScene();
    scene.showFails = 1;
    await scene.push(pushOf());
    assert.deepEqual(titles(scene), ['Ada']);
    assert.equal(scene.shown[0].body, undefined);
  });

  test('that is declarative by the notification that the browser gives', async () => {
    const scene = new WorkerScene();
    await scene.emit('push', { data: null, notification: { ...pushOf().notification } });
    assert.deepEqual(titles(scene), ['Ada']);
    assert.equal(scene.shown[0].data.tacet.navigate, `${origin}/chats/1`);
  });

  test('and sets the badge without waiting for it, and lets pages set it', async () => {
    const scene = new WorkerScene();
    const page = scene.addWindow(`${origin}/`);
    await scene.push(pushOf({ app_badge: '3' }));
    assert.deepEqual(scene.badges, [3]);
    assert.deepEqual(page.messages, [{ type: 'tacet.badge', app_badge: 3 }]);
  });

  test('where there is no badge', async () => {
    const scene = new WorkerScene();
    scene.self.navigator = undefined;
    await scene.push(pushOf({ app_badge: 3 }));
    assert.deepEqual(titles(scene), ['Ada']);
  });
});

describe('The worker fetches for an empty push', () => {
  test('once, with the token of the subscription', async () => {
    const scene = new WorkerScene();
    scene.network.answer = () => responseOf({ status: 200, body: pushOf() });
    await scene.push();
    assert.deepEqual(titles(scene), ['Ada']);
    assert.deepEqual(scene.network.lines, ['GET /v1/notifications/latest']);
    assert.equal(scene.network.requests[0].authorization, 'Bearer f3tch');
    assert.equal(scene.clock.timers.size, 0);
  });

  test('and reads an answer of 32 KiB', async () => {
    const scene = new WorkerScene();
    scene.network.answer = () => new Response(JSON.stringify(pushOf()), { headers: { 'content-length': '32768' } });
    await scene.push();
    assert.deepEqual(titles(scene), ['Ada']);
  });

  test('from the service that its settings name', async () => {
    const scene = new WorkerScene({ tacet: { service: 'https://push.example.com/' } });
    await scene.push('');
    assert.equal(scene.network.requests[0].url, 'https://push.example.com/v1/notifications/latest');
  });

  for (const [name, answer] of [
    ['offline', () => 'offline'], ['204', () => responseOf({ status: 204 })],
    ['401', () => responseOf({ status: 401 })],
    ['500', () => responseOf({ status: 500, body: pushOf() })], ['no JSON', () => new Response('<html>')],
    ['another document', () => responseOf({ status: 200, body: {} })],
    ['a document that says to be long', () => new Response('{}', { headers: { 'content-length': '32769' } })],
    ['a long document', () => responseOf({ status: 200, body: pushOf({ body: 'x'.repeat(9000) }) })],
    ['no title', () => responseOf({ status: 200, body: pushOf({ title: '' }) })],
  ]) {
    test(`and shows the neutral text after ${name}`, async () => {
      const scene = new WorkerScene({ search: '?title=News&body=Have+a+look' });
      scene.network.answer = answer;
      await scene.push();
      const texts = scene.shown.map(({ title, body, tag, silent }) => [title, body, tag, silent]);
      assert.deepEqual(texts, [['News', 'Have a look', 'tacet.neutral', false]]);
      assert.equal(scene.network.requests.length, 1);
    });
  }

  for (const [milliseconds, shown] of [[11_999, []], [12_000, ['New notification']]]) {
    test(`and after ${milliseconds} ms without an answer shows ${shown.length} notifications`, async () => {
      const scene = new WorkerScene();
      scene.network.answer = () => new Promise(() => {});
      const push = scene.push();
      await scene.settled();
      await scene.clock.pass(scene.clock.time + milliseconds);
      assert.deepEqual(titles(scene), shown);
      assert.equal(scene.network.requests[0].options.signal.aborted, shown.length === 1);
      if (shown.length > 0) await push;
    });
  }

  test('and shows the neutral text for a body that never ends', async () => {
    const scene = new WorkerScene();
    scene.network.answer = () => new Response(new ReadableStream({}));
    const push = scene.push();
    await scene.settled();
    await scene.clock.pass(scene.clock.time + 12_000);
    await push;
    assert.deepEqual(titles(scene), ['New notification']);
  });

  test('not at all without a subscription', async () => {
    const scene = new WorkerScene({ subscription: null });
    await scene.push();
    assert.deepEqual(titles(scene), ['New notification']);
    assert.deepEqual(scene.network.requests, []);
  });

  test('not at all when its database is blocked', async () => {
    const scene = new WorkerScene();
    scene.database.fails = true;
    await scene.push();
    assert.deepEqual(titles(scene), ['New notification']);
  });
});

describe('The worker clears', () => {
  const clear = (tags, badge, others) => ({ web_push: 8030, tacet: { clear: tags, app_badge: badge }, ...others });

  test('the tags that were read elsewhere, and shows the rest again without a sound', async () => {
    const scene = new WorkerScene({ search: '?icon=/i.png' });
    await scene.push(pushOf());
    await scene.push(pushOf({ title: 'Bob', tag: 't2', actions: [{ action: 'A', title: 'a' }] }));
    await scene.push(clear(['t1'], 1));
    assert.deepEqual(titles(scene), ['Bob']);
    const { silent, tag, body, icon, actions, data } = scene.shown[0];
    assert.deepEqual([silent, tag, body, icon, actions.length], [true, 't2', 'Hello', '/i.png', 1]);
    assert.equal(data.tacet.navigate, `${origin}/chats/1`);
    assert.equal(scene.shows.length, 3);
    assert.deepEqual(scene.badges, [1]);
  });

  test('a burst by the message that it shows, not by the first, whose tag it has', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf({ title: 'Burst', data: { message_id: 't9' } }));
    await scene.push(clear(['t1'], 1));
    assert.deepEqual(titles(scene), ['Burst']);
    await scene.push(clear(['t9'], 0));
    assert.deepEqual(titles(scene), ['You are up to date']);
  });

  test('everything, and shows the quiet title, which goes with the next push', async () => {
    const scene = new WorkerScene({ search: '?quiet=Nothing+new' });
    await scene.push(pushOf());
    await scene.push(clear(['t1'], 0));
    assert.deepEqual(scene.shown.map(({ title, silent }) => [title, silent]), [['Nothing new', true]]);
    assert.deepEqual(scene.badges, [0]);
    await scene.push(pushOf({ title: 'Bob' }));
    assert.deepEqual(titles(scene), ['Bob']);
  });

  test('and shows the notification that comes with it', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    await scene.push(clear(['t1'], 1, { notification: pushOf({ title: 'Bob', tag: 't2' }).notification }));
    assert.deepEqual(titles(scene), ['Bob']);
  });

  test('and does not show again what is listed for a moment after it was closed', async () => {
    const scene = new WorkerScene();
    for (const tag of ['t1', 't2']) await scene.push(pushOf({ tag, title: tag }));
    for (const shown of scene.shown) shown.close = () => {};
    await scene.push(clear(['t2'], 1));
    assert.equal(scene.shows.at(-1).title, 't1');
    await scene.push(clear(['t1', 't2'], 0));
    await scene.push(clear(['t1', 't2'], 0));
    assert.equal(scene.shows.at(-1).title, 'You are up to date');
  });

  test('100 tags at most, without a count too', async () => {
    const scene = new WorkerScene();
    for (const tag of ['t1', 't2']) await scene.push(pushOf({ tag, title: tag }));
    const others = Array.from({ length: 99 }, (_, index) => `x${index}`);
    await scene.push(clear([...others, 't1', 't2']));
    assert.deepEqual(titles(scene), ['t2']);
    assert.deepEqual(scene.badges, []);
  });

  test('a tag as it was shown, cut at 128 characters', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf({ tag: 't'.repeat(129) }));
    await scene.push(clear(['t'.repeat(129)]));
    assert.deepEqual(titles(scene), ['You are up to date']);
  });

  test('not the app’s own notifications', async () => {
    const scene = new WorkerScene();
    await scene.self.registration.showNotification('App', { tag: 't1', data: { x: 1 } });
    await scene.push(clear(['t1'], 0));
    assert.deepEqual(titles(scene), ['App', 'You are up to date']);
  });
});
