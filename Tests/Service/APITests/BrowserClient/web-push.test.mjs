import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Browser, bytes, formerKey, key } from './browser-scene.mjs';
import { makeClient, MockNetwork } from './support.mjs';

const current = { endpoint: 'https://push/old', key: bytes(key).buffer };

describe('A tap', () => {
  test('asks the user, subscribes with the service’s key and reports it', async () => {
    const browser = new Browser();
    assert.equal(await browser.client.webPush.state(), 'off');
    assert.equal(await browser.client.webPush.enable(), 'on');
    assert.equal(await browser.client.webPush.state(), 'on');
    assert.deepEqual(browser.lines, ['GET key', 'PUT https://push/new']);
    assert.equal(browser.network.requests[0].authorization, null);
    assert.deepEqual(browser.network.requests[1].body, {
      endpoint: 'https://push/new', keys: { p256dh: 'p', auth: 'a' }, locale: 'de-CH', time_zone: 'Europe/Zurich',
    });
    assert.deepEqual(browser.subscription.options.applicationServerKey, bytes(key));
    assert.deepEqual(browser.stored, { endpoint: 'https://push/new', public_key: key, fetch_token: 'f3tch' });
  });

  for (const [answers, state] of [['denied', 'denied'], ['default', 'off']]) {
    test(`that the user answers with ${answers} subscribes to nothing`, async () => {
      const browser = new Browser({ answers });
      assert.equal(await browser.client.webPush.enable(), state);
      assert.deepEqual([browser.lines, browser.subscribed], [[], 0]);
      assert.equal(await browser.client.webPush.state(), state);
    });
  }

  test('is needed: without one nothing is asked', async () => {
    const browser = new Browser({ isActive: false });
    await assert.rejects(browser.client.webPush.enable(), { code: 'needs_tap' });
    assert.deepEqual([browser.asked, browser.lines], [0, []]);
  });

  test('is taken for granted in browsers that do not say', async () => {
    const browser = new Browser();
    browser.navigator.userActivation = undefined;
    assert.equal(await browser.client.webPush.enable(), 'on');
  });

  test('keeps a subscription for the same key', async () => {
    const browser = new Browser({ permission: 'granted', subscription: current });
    await browser.client.webPush.enable({ locale: 'fr', timeZone: 'UTC' });
    assert.deepEqual([browser.lines, browser.ended], [['GET key', 'PUT https://push/old'], []]);
    const { locale, time_zone: zone } = browser.network.requests[1].body;
    assert.deepEqual([locale, zone], ['fr', 'UTC']);
  });

  for (const [name, served] of [
    ['no key', {}], ['a short key', { public_key: 'abc' }], ['other characters', { public_key: '+'.repeat(87) }],
  ]) {
    test(`subscribes to nothing with ${name}`, async () => {
      const browser = new Browser();
      browser.served = served;
      await assert.rejects(browser.client.webPush.enable(), { code: 'refused' });
      assert.equal(browser.subscribed, 0);
    });
  }

  test('is an error when the service refuses the subscription', async () => {
    const browser = new Browser();
    browser.put = { status: 400, body: { field: 'endpoint' } };
    await assert.rejects(browser.client.webPush.enable(), { code: 'refused', field: 'endpoint' });
    assert.equal(browser.stored, undefined);
  });
});

describe('The start of a page', () => {
  test('reports a subscription that is there, and asks nothing', async () => {
    const browser = new Browser({ permission: 'granted', subscription: current });
    assert.equal(await browser.client.webPush.check(), 'on');
    assert.deepEqual([browser.lines, browser.asked, browser.subscribed], [['GET key', 'PUT https://push/old'], 0, 0]);
  });

  for (const permission of ['default', 'granted', 'denied']) {
    test(`makes no subscription with the permission ${permission}`, async () => {
      const browser = new Browser({ permission });
      assert.equal(await browser.client.webPush.check(), permission === 'denied' ? 'denied' : 'off');
      assert.deepEqual([browser.lines, browser.asked, browser.subscribed], [[], 0, 0]);
    });
  }

  test('replaces a subscription for a former key', async () => {
    const stored = { endpoint: 'https://push/old', public_key: formerKey, fetch_token: 'x' };
    const subscription = { endpoint: 'https://push/old', key: bytes(formerKey).buffer };
    const browser = new Browser({ permission: 'granted', subscription, stored });
    assert.equal(await browser.client.webPush.check(), 'on');
    assert.deepEqual(browser.ended, ['https://push/old']);
    assert.deepEqual(browser.lines, ['GET key', 'DELETE https://push/old', 'PUT https://push/new']);
    assert.equal(browser.stored.public_key, key);
  });

  test('replaces a subscription that the service knows to have ended for good', async () => {
    const browser = new Browser({ permission: 'granted', subscription: current });
    browser.refused = ['https://push/old'];
    assert.equal(await browser.client.webPush.check(), 'on');
    assert.deepEqual([browser.ended, browser.asked], [['https://push/old'], 0]);
    assert.deepEqual(browser.lines, ['GET key', 'PUT https://push/old', 'PUT https://push/new']);
    assert.equal(browser.stored.endpoint, 'https://push/new');
    assert.deepEqual(browser.subscription.options.applicationServerKey, bytes(key));
  });

  test('replaces a subscription once: a second refusal is an error', async () => {
    const browser = new Browser({ permission: 'granted', subscription: current });
    browser.refused = ['https://push/old', 'https://push/new'];
    await assert.rejects(browser.client.webPush.check(), { code: 'refused', field: 'endpoint' });
    assert.equal(browser.subscribed, 1);
  });

  test('reports a new endpoint, and that the old one has ended', async () => {
    const stored = { endpoint: 'https://push/1' };
    const browser = new Browser({ permission: 'granted', subscription: current, stored });
    await browser.client.webPush.check();
    assert.deepEqual(browser.lines, ['GET key', 'DELETE https://push/1', 'PUT https://push/old']);
  });

  test('tells the service of a subscription that has ended', async () => {
    const browser = new Browser({ permission: 'granted', stored: { endpoint: 'https://push/1' } });
    assert.equal(await browser.client.webPush.check(), 'off');
    assert.deepEqual(browser.lines, ['DELETE https://push/1']);
    assert.equal(browser.stored, undefined);
  });

  test('keeps a subscription whose key the browser does not say', async () => {
    const browser = new Browser({ permission: 'granted', subscription: { endpoint: 'https://push/old' } });
    await browser.client.webPush.check();
    assert.deepEqual(browser.ended, []);
  });

  for (const stored of ['x', 7, [], null]) {
    test(`does not trust ${JSON.stringify(stored)} in its database`, async () => {
      const browser = new Browser({ permission: 'granted', subscription: current, stored });
      assert.equal(await browser.client.webPush.check(), 'on');
    });
  }
});

describe('A read', () => {
  const stored = { endpoint: 'https://push/old' };

  for (const [name, given, told] of [
    ['names the browser’s subscription', { stored }, '8fa421cf2002c453bb5ef348c0f4a05b'],
    ['names nothing without a subscription', {}, undefined],
  ]) {
    test(name, async () => {
      const browser = new Browser(given);
      await browser.client.markRead('c1');
      assert.equal(browser.network.requests[0].body.device_token, told);
    });
  }

  test('names the device token that the app has given', async () => {
    const browser = new Browser({ stored });
    browser.client.deviceToken = 'AB';
    await browser.client.markRead('c1');
    assert.equal(browser.network.requests[0].body.device_token, 'ab');
  });

  test('is sent also where no digest can be made', async () => {
    const browser = new Browser({ stored, digest: async () => { throw new Error('insecure'); } });
    await browser.client.markRead('c1');
    assert.equal(browser.network.requests[0].body.device_token, undefined);
  });
});

describe('Log-out', () => {
  test('ends the subscription here and at the service', async () => {
    const stored = { endpoint: 'https://push/old' };
    const browser = new Browser({ permission: 'granted', subscription: current, stored });
    assert.equal(await browser.client.webPush.disable(), 'off');
    assert.deepEqual([browser.ended, browser.lines], [['https://push/old'], ['DELETE https://push/old']]);
    assert.equal(browser.stored, undefined);
  });

  test('of a subscription that has ended tells the service', async () => {
    const browser = new Browser({ stored: { endpoint: 'https://push/1' } });
    await browser.client.webPush.disable();
    assert.deepEqual([browser.lines, browser.stored], [['DELETE https://push/1'], undefined]);
  });

  test('without a subscription sends nothing', async () => {
    const browser = new Browser();
    assert.equal(await browser.client.webPush.disable(), 'off');
    assert.deepEqual(browser.lines, []);
  });
});

describe('Web Push is not supported', () => {
  for (const [name, members] of [
    ['in Capacitor', { capacitor: { isNativePlatform: () => true } }],
    ['in Electron', { userAgent: 'Mozilla Electron/30.0' }],
  ]) {
    test(name, async () => {
      const { client, lines, asked } = new Browser({ ...members, permission: 'granted', subscription: current });
      const states = [
        client.webPush.state(), client.webPush.enable(), client.webPush.check(), client.webPush.disable(),
      ];
      assert.deepEqual(await Promise.all(states), Array(4).fill('unsupported'));
      assert.deepEqual([lines, asked], [[], 0]);
    });
  }

  test('outside of a browser', async () => {
    const client = makeClient(new MockNetwork(() => 'offline'));
    assert.equal(await client.webPush.check(), 'unsupported');
  });
});

describe('A badge from the worker', () => {
  for (const [data, badges] of [
    [{ type: 'tacet.badge', app_badge: 3 }, [3]], [{ type: 'tacet.badge', app_badge: -1 }, [0]],
    [{ type: 'tacet.badge', app_badge: 100_000 }, [99_999]],
   
    [{ type: 'tacet.badge', app_badge: '3' }, []], [{ type: 'x', app_badge: 3 }, []], [null, []], ['x', []],
  ]) {
    test(`${JSON.stringify(data)} sets ${JSON.stringify(badges)}`, () => {
      const browser = new Browser();
      browser.worker.emit('message', { data });
      assert.deepEqual(browser.badges, badges);
    });
  }
});
