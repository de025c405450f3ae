import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { origin, pushOf, WorkerScene } from './worker-scene.mjs';

const titles = (scene) => scene.shown.map(({ title }) => title);

describe('The worker bounds hostile pushes', () => {
  const neutral = ['New notification'];
  for (const [name, document, expected] of [
    ['no JSON', '{', neutral], ['a number', '7', neutral], ['null', 'null', neutral], ['a list', '[]', neutral],
    ['another version', JSON.stringify({ ...pushOf(), web_push: 1 }), neutral],
    ['no notification', { web_push: 8030 }, neutral],
    ['a text as notification', { web_push: 8030, notification: 'x' }, neutral],
    ['a number as title', pushOf({ title: 7 }), neutral], ['an empty title', pushOf({ title: '' }), neutral],
    ['8193 characters', pushOf({ body: 'x'.repeat(8193) }), neutral],
    ['numbers everywhere', pushOf({ body: 1, tag: 2, navigate: 3, silent: 4, data: 5, actions: 6, lang: 7 }), ['Ada']],
    ['lists everywhere', pushOf({ body: [], tag: [], navigate: [], data: [], actions: [[]], app_badge: [] }), ['Ada']],
    ['images that are none', pushOf({ image: 8, icon: [] }), ['Ada']],
    ['tags that are no texts', { ...pushOf(), tacet: { clear: [1, null, {}, ''], app_badge: {} } }, ['Ada']],
    ['its own mark', pushOf({ data: { tacet: { navigate: 'javascript:x' } }, navigate: '/x' }), ['Ada']],
  ]) {
    test(name, async () => {
      const scene = new WorkerScene();
      await scene.push(document);
      assert.deepEqual(titles(scene), expected);
      assert.deepEqual(scene.badges, []);
      await scene.click();
      const [url] = scene.openedURLs;
      assert.equal(new URL(url).origin, origin);
    });
  }

  for (const [length, title] of [[8192, 'Ada'], [8193, 'New notification']]) {
    test(`a document of ${length} characters shows ${title}`, async () => {
      const scene = new WorkerScene();
      await scene.push(JSON.stringify(pushOf()).padEnd(length));
      assert.deepEqual(titles(scene), [title]);
    });
  }

  test('long texts are cut between characters', async () => {
    const scene = new WorkerScene();
    const long = '😀'.repeat(300);
    const actions = [{ action: 'a'.repeat(65), title: 'b'.repeat(51) }];
    await scene.push(
      pushOf({ title: long, body: long.repeat(4), tag: 't'.repeat(129), lang: 'l'.repeat(36), actions }),
    );
    const [{ title, body, tag, lang, actions: [action] }] = scene.shown;
    const lengths = [title, body, tag, lang, action.action, action.title].map((text) => [...text].length);
    assert.deepEqual(lengths, [200, 1000, 128, 35, 64, 50]);
  });

  test('actions are four at most, each with a name and a title', async () => {
    const scene = new WorkerScene();
    const good = { action: 'A', title: 'a' };
    await scene.push(pushOf({ actions: [null, { action: 'B' }, { title: 'b' }, good, good] }));
    assert.deepEqual(scene.shown[0].actions, [good]);
  });

  for (const [image, shown] of [
    ['https://x/y.png', 'https://x/y.png'], ['http://x/y.png', undefined], ['data:,', undefined],
  ]) {
    test(`the image ${image} is ${shown ? 'shown' : 'left out'}`, async () => {
      const scene = new WorkerScene();
      await scene.push(pushOf({ image }));
      assert.equal(scene.shown[0].image, shown);
    });
  }

  for (const [value, count] of [
    [0, 0], [99_999, 99_999], ['0', 0], ['10', 10], ['99999', 99_999], [100_000], [-1], [0.5], [true], [null], ['-1'],
    ['1e3'], ['100000'], [' 1'],
  ]) {
    test(`the badge ${JSON.stringify(value)} is ${count ?? 'ignored'}`, async () => {
      const scene = new WorkerScene();
      await scene.push(pushOf({ app_badge: value }));
      assert.deepEqual(scene.badges, count === undefined ? [] : [count]);
    });
  }
});
