import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { origin, pushID, pushOf, WorkerScene } from './worker-scene.mjs';

const at = '2026-11-22T06:00:00.000Z';
const home = `${origin}/`;

describe('A click', () => {
  test('closes the notification, opens its page and is reported', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    await scene.click();
    assert.deepEqual(scene.shown, []);
    assert.deepEqual(scene.openedURLs, [`${origin}/chats/1`]);
    assert.deepEqual(scene.reports, [{ push_log_id: pushID, event: 'opened', at }]);
    assert.equal(scene.network.requests[0].authorization, 'Bearer f3tch');
    assert.deepEqual(scene.database.values.get('reports'), []);
  });

  test('focuses the window that has the page', async () => {
    const scene = new WorkerScene();
    const [other, same] = [scene.addWindow(`${origin}/`), scene.addWindow(`${origin}/chats/1`)];
    await scene.push(pushOf());
    await scene.click();
    assert.deepEqual([other.focused, same.focused, scene.openedURLs], [0, 1, []]);
  });

  test('opens a new page beside other windows', async () => {
    const scene = new WorkerScene();
    const other = scene.addWindow(`${origin}/`);
    await scene.push(pushOf());
    await scene.click();
    assert.deepEqual([other.focused, scene.openedURLs], [0, [`${origin}/chats/1`]]);
  });

  for (const settings of [{ search: '?route=1' }, { tacet: { route: true } }]) {
    test(`tells an open page the address, with the settings ${JSON.stringify(settings)}`, () => routed(settings));
  }

  async function routed(settings) {
    const scene = new WorkerScene(settings);
    const foreign = scene.addWindow('https://else.example.com/');
    const page = scene.addWindow(`${origin}/`);
    await scene.push(pushOf());
    await scene.click();
    assert.deepEqual([foreign.focused, page.focused, scene.openedURLs], [0, 1, []]);
    assert.deepEqual(page.messages.at(-1), { type: 'tacet.open', navigate: `${origin}/chats/1` });
  }

  for (const [navigate, url, search = ''] of [
    ['/a?b#c', `${origin}/a?b#c`], ['a', `${origin}/a`], [`${origin}/a`, `${origin}/a`], ['//evil.example.com/', home],
    ['https://evil.example.com/', home], ['http://app.example.com/', home], ['javascript:alert(1)', home],
    [' javascript:alert(1)', home], ['java\nscript:alert(1)', home], ['data:text/html,x', home],
    ['blob:https://app.example.com/1', home], ['https://u:p@app.example.com/', home],
    [
      'https://u@app.example.com/', home,
    ], ['https://:p@app.example.com/', home], ['', `${origin}/start`, '?open=/start'],
    ['https://[', home], ['', home],
    [null, home], [{}, home], [`/${'a'.repeat(2025)}`, home], [`/${'a'.repeat(2024)}`, `${origin}/${'a'.repeat(2024)}`],
    ['https://docs.example.com/a', 'https://docs.example.com/a', '?origins=https://x.com,https://docs.example.com'],
    ['https://docs.example.com.evil.com/', home, '?origins=https://docs.example.com'],
    ['javascript:alert(1)', home, '?origins=null'], ['/\\evil.example.com', home],
    ['javascript:alert(1)', `${origin}/start`, '?open=/start'], ['x:y', home, '?open=https://evil.example.com/'],
  ]) {
    const short = JSON.stringify(navigate).slice(0, 50);
    test(`on ${short} opens ${url.slice(0, 50)}, with ${search || 'no settings'}`, async () => {
      const scene = new WorkerScene({ search });
      await scene.push(pushOf({ navigate }));
      await scene.click();
      assert.deepEqual(scene.openedURLs, [url]);
    });
  }

  test('on an action with an address opens it and reports the action', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf({ actions: [{ action: 'START', title: 'Start', navigate: '/start' }] }));
    await scene.click('START');
    assert.deepEqual(scene.openedURLs, [`${origin}/start`]);
    assert.deepEqual(scene.reports, [{ push_log_id: pushID, event: 'action', action: 'START', at }]);
  });

  for (const [action, navigate] of [
    ['DID_THIS', undefined], ['DID_THIS', 'https://evil.example.com'], ['constructor', undefined],
  ]) {
    test(`on the action ${action} with the address ${navigate} opens nothing and reports it`, async () => {
      const scene = new WorkerScene();
      await scene.push(pushOf({ actions: [{ action, title: 'x', navigate }] }));
      await scene.click(action);
      assert.deepEqual(scene.openedURLs, []);
      assert.deepEqual(scene.reports.map(({ event }) => event), ['action']);
    });
  }

  test('on a notification that is not of the service is left to the app', async () => {
    const scene = new WorkerScene();
    for (const data of [null, { push_log_id: pushID }, { tacet: 1 }]) {
      await scene.self.registration.showNotification('App', { data });
      await scene.click();
      await scene.emit('notificationclose', { notification: scene.shown.at(-1) });
    }
    assert.equal(scene.shown.length, 3);
    assert.deepEqual([scene.openedURLs, scene.network.requests], [[], []]);
  });

  for (const id of [undefined, 7, 'x', `${pushID}x`, {}]) {
    test(`on a push with the id ${JSON.stringify(id)} reports nothing`, async () => {
      const scene = new WorkerScene();
      await scene.push(pushOf({ data: { push_log_id: id } }));
      await scene.click();
      assert.deepEqual([scene.openedURLs.length, scene.network.requests], [1, []]);
    });
  }

  for (const id of [pushID.toUpperCase(), '00000000-0000-0000-0000-000000000000']) {
    test(`on a push with the id ${id} is reported`, async () => {
      const scene = new WorkerScene();
      await scene.push(pushOf({ data: { push_log_id: id } }));
      await scene.click();
      assert.equal(scene.reports.length, 1);
    });
  }

  test('on the neutral text opens the app', async () => {
    const scene = new WorkerScene();
    await scene.push('');
    scene.network.requests.length = 0;
    await scene.click();
    assert.deepEqual([scene.openedURLs, scene.network.requests], [[home], []]);
  });

  test('opens the page also when no report can be kept', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    scene.database.fails = true;
    await scene.click();
    assert.deepEqual(scene.openedURLs, [`${origin}/chats/1`]);
  });

  test('or a push that closes it dismisses nothing, although Firefox says that it is closed', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    const [replaced] = scene.shown;
    await scene.push(pushOf());
    const [clicked] = scene.shown;
    await scene.click();
    for (const notification of [replaced, clicked]) await scene.emit('notificationclose', { notification });
    assert.deepEqual(scene.reports.map(({ event }) => event), ['opened']);
  });

  test('that closes it is reported as dismissed', async () => {
    const scene = new WorkerScene();
    await scene.push(pushOf());
    await scene.emit('notificationclose', { notification: scene.shown[0] });
    assert.deepEqual(scene.reports, [{ push_log_id: pushID, event: 'dismissed', at }]);
  });
});
