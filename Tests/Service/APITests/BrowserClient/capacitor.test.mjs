import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CapacitorScheduler } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { evening, listener, morning } from './adapter-scene.mjs';

/** The plugin of Capacitor, as far as the adapter uses it. */
class MockPlugin {
  held = new Map();
  channels = [];
  types = [];
  display = 'granted';
  exact = 'granted';
  listeners = {};
  settingsOpened = 0;

  getPending = async () => ({ notifications: [...this.held.values()] });
  schedule = async ({ notifications }) => notifications.forEach((one) => this.held.set(one.id, one));
  cancel = async ({ notifications }) => notifications.forEach(({ id }) => assert(this.held.delete(id)));
  checkPermissions = async () => ({ display: this.display });
  checkExactNotificationSetting = async () => ({ exact_alarm: this.exact });
  changeExactNotificationSetting = async () => void (this.settingsOpened += 1);
  listChannels = async () => ({ channels: this.channels });
  createChannel = async (channel) => void this.channels.push(channel);
  registerActionTypes = async ({ types }) => void (this.types = types);
  addListener = async (name, work) => {
    this.listeners[name] = work;
    return { remove: () => delete this.listeners[name] };
  };
}

function capacitor(system = 'android') {
  const plugin = new MockPlugin();
  return { plugin, scheduler: new CapacitorScheduler(plugin, { getPlatform: () => system }) };
}

const configuration = {
  flags: { androidChannelId: 'timesafari.daily' },
  channels: [
    { id: 'timesafari.daily', name: 'TimeSafari Daily', importance: 'high' }, { id: 'x', name: 'X', importance: '?' },
    { id: 'l', name: 'L', importance: 'low' }, { id: 'm', name: 'M', importance: 'min' },
  ],
  categories: [
    { id: 'C', actions: [{ id: 'A', title: 'a', options: ['foreground'] }, { id: 'B', title: 'b', options: [] }] },
  ],
};

describe('Capacitor', () => {
  test('arms a row at its instant, and finds it again', async () => {
    const { plugin, scheduler } = capacitor();
    await scheduler.prepare(configuration);
    await scheduler.pending();
    await scheduler.arm(morning);
    const [{ id, schedule, extra, channelId, actionTypeId, threadIdentifier }] = plugin.held.values();
    assert(Number.isInteger(id) && id >= 0 && id < 2 ** 31);
    assert.deepEqual(schedule, { at: new Date(morning.at), allowWhileIdle: true });
    assert.deepEqual([channelId, actionTypeId, threadIdentifier], ['timesafari.daily', 'C', 't']);
    assert.deepEqual(extra, { type: 'ritual', tacet_identifier: morning.identifier });
    assert.deepEqual(await scheduler.pending(), [morning.identifier]);
  });

  test('cancels rows by their number, after a restart too', async () => {
    const { plugin, scheduler } = capacitor();
    for (const one of [morning, evening]) await scheduler.arm(one);
    const later = new CapacitorScheduler(plugin, { getPlatform: () => 'ios' });
    await later.pending();
    await later.cancel([morning.identifier, 'ritual.0900.2026-11-22']);
    assert.deepEqual(await later.pending(), [evening.identifier]);
    await later.cancel(['ritual.0900.2026-11-22']);
  });

  test('leaves notifications of the app alone, also one that has the number of a row', async () => {
    const { plugin, scheduler } = capacitor();
    await scheduler.arm(morning);
    const [id] = plugin.held.keys();
    for (const extra of [undefined, null, { tacet_identifier: 'x' }]) {
      plugin.held.clear();
      plugin.held.set(id, { id, extra });
      assert.deepEqual(await scheduler.pending(), [`capacitor:${id}`]);
      await scheduler.arm(morning);
      assert.deepEqual([...plugin.held.keys()], [id, (id + 1) & 0x7fffffff]);
      await scheduler.cancel([morning.identifier]);
      assert.deepEqual([...plugin.held.keys()], [id]);
    }
  });

  for (const [display, permission] of [
    ['granted', 'authorized'], ['denied', 'denied'], ['prompt', 'not_determined'],
    ['prompt-with-rationale', 'not_determined'],
  ]) {
    test(`the permission ${display} is ${permission}`, async () => {
      const { plugin, scheduler } = capacitor();
      plugin.display = display;
      assert.equal(await scheduler.permission(), permission);
    });
  }

  for (const [system, exact, isExact] of [
    ['android', 'granted', true], ['android', 'denied', false], ['android', 'prompt', true], ['ios', 'denied', true],
  ]) {
    test(`exact alarms that are ${exact} on ${system} are ${isExact}`, async () => {
      const { plugin, scheduler } = capacitor(system);
      plugin.exact = exact;
      assert.equal(await scheduler.exactAlarms(), isExact);
      await scheduler.openSettings();
      assert.equal(plugin.settingsOpened, system === 'android' ? 1 : 0);
    });
  }

  test('makes each channel once, with its importance, and registers the categories', async () => {
    const { plugin, scheduler } = capacitor();
    await scheduler.prepare(configuration);
    await scheduler.prepare(configuration);
    const found = plugin.channels.map(({ id, name, importance }) => [id, name, importance]);
    const daily = ['timesafari.daily', 'TimeSafari Daily', 4];
    assert.deepEqual(found, [daily, ['x', 'X', 3], ['l', 'L', 2], ['m', 'M', 1]]);
    assert.deepEqual(plugin.types, [
      { id: 'C', actions: [{ id: 'A', title: 'a', foreground: true }, { id: 'B', title: 'b', foreground: false }] },
    ]);
  });

  test('has no channels on iOS', async () => {
    const { plugin, scheduler } = capacitor('ios');
    await scheduler.prepare(configuration);
    await scheduler.arm(morning);
    assert.deepEqual(plugin.channels, []);
    assert.equal([...plugin.held.values()][0].channelId, undefined);
  });

  test('reports taps, actions and deliveries of rows alone', async () => {
    const { plugin, scheduler } = capacitor();
    const { notes, client, keeper } = listener();
    const opens = [];
    const app = new MockPlugin();
    const end = await scheduler.connect(client, keeper, { app, onOpen: (open) => opens.push(open) });
    const extra = { type: 'ritual', tacet_identifier: morning.identifier };
    const { localNotificationActionPerformed: performed, localNotificationReceived: received } = plugin.listeners;
    await performed({ actionId: 'tap', notification: { extra } });
    await performed({ actionId: 'DID_THIS', notification: { extra } });
    received({ extra });
    for (const notification of [{}, { extra: null }, { extra: { tacet_identifier: 1 } }, undefined]) {
      await performed({ actionId: 'tap', notification });
    }
    received({});
    app.listeners.resume();
    assert.deepEqual(notes, [
      `opened ${morning.identifier}`, 'flush', `opened ${morning.identifier}`, `DID_THIS ${morning.identifier}`,
      'flush', `delivered ${morning.identifier}`, 'trigger',
    ]);
    assert.deepEqual(opens, [
      { identifier: morning.identifier, action: undefined, data: { type: 'ritual' } },
      { identifier: morning.identifier, action: 'DID_THIS', data: { type: 'ritual' } },
    ]);
    end();
    assert.deepEqual([plugin.listeners, app.listeners], [{}, {}]);
  });
});
