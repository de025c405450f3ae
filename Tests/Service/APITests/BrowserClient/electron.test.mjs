import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ElectronScheduler } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { evening, listener, morning, row } from './adapter-scene.mjs';
import { ManualClock, MockTarget, settled } from './support.mjs';

/** Electron's main process. */
function electron({ openAtLogin = false, isSupported = true, system = 'linux', onOpen, appUserModelId } = {}) {
  const clock = new ManualClock();
  const shown = [];
  class Notification {
    static isSupported = () => isSupported;
    listeners = {};

    constructor(options) {
      Object.assign(this, options);
    }

    on(type, work) {
      this.listeners[type] = work;
    }

    show() {
      shown.push(this);
    }
  }
  const modelIds = [];
  const app = { getLoginItemSettings: () => ({ openAtLogin }), setAppUserModelId: (id) => modelIds.push(id) };
  const target = new MockTarget();
  const powerMonitor = {
    on: (type, work) => target.addEventListener(type, work),
    removeListener: (type, work) => target.removeEventListener(type, work),
  };
  const platform = {
    now: clock.now, setTimeout: clock.setTimeout, clearTimeout: clock.clearTimeout, zone: () => 'Europe/Vienna', system,
  };
  const scheduler = new ElectronScheduler({ app, Notification, powerMonitor }, { appUserModelId, onOpen, platform });
  return { clock, shown, scheduler, target, modelIds };
}

describe('Electron', () => {
  test('shows a row at its instant and reports what becomes of it', async () => {
    const opens = [];
    const { clock, shown, scheduler } = electron({ onOpen: (open) => opens.push(open) });
    const { notes, client, keeper } = listener();
    scheduler.connect(client, keeper);
    await scheduler.arm(morning);
    assert.deepEqual(await scheduler.pending(), [morning.identifier]);
    await clock.pass(morning.at - 1);
    assert.equal(shown.length, 0);
    await clock.pass(morning.at);
    assert.deepEqual([shown[0].title, shown[0].body], ['T', 'B']);
    assert.deepEqual(await scheduler.pending(), []);
    shown[0].listeners.click();
    shown[0].listeners.close();
    await settled();
    const codes = notes.filter((note) => note !== 'flush');
    assert.deepEqual(codes, [`delivered ${morning.identifier}`, 'trigger', `opened ${morning.identifier}`]);
    assert.deepEqual(opens, [{ identifier: morning.identifier, data: { type: 'ritual' } }]);
  });

  test('reports a notification that is closed as dismissed', async () => {
    const { clock, shown, scheduler } = electron();
    const { notes, client, keeper } = listener();
    scheduler.connect(client, keeper);
    await scheduler.arm(morning);
    await clock.pass(morning.at);
    shown[0].listeners.close();
    assert(notes.includes(`dismissed ${morning.identifier}`));
  });

  for (const [minutes, count] of [[15, 1], [15.001, 0]]) {
    test(`shows ${count} notifications ${minutes} minutes late, after the computer slept`, async () => {
      const { clock, shown, scheduler } = electron();
      await scheduler.arm(morning);
      clock.time = morning.at + minutes * 60_000;
      await clock.pass(clock.time);
      assert.equal(shown.length, count);
      assert.deepEqual(await scheduler.pending(), []);
    });
  }

  test('shows nothing that was cancelled, and a row that is armed again once', async () => {
    const { clock, shown, scheduler } = electron();
    for (const one of [morning, morning, evening]) await scheduler.arm(one);
    await scheduler.cancel([evening.identifier, 'ritual.0900.2026-11-22']);
    await clock.pass(evening.at);
    assert.equal(shown.length, 1);
  });

  test('arms the next occurrence of each slot', () => {
    const rows = [morning, evening, row('0800', '2026-11-23'), { ...row('0800', '2026-11-23'), campaign: 'daily' }];
    const { scheduler, clock } = electron();
    assert.deepEqual(scheduler.select(rows, clock.time), [rows[0], rows[1], rows[3]]);
  });

  test('arms today and tomorrow, by the device’s clock, if it starts at log-in', () => {
    // In Vienna it is 22:59 and 23:00 UTC that part two days.
    const rows = [morning, row('2259', '2026-11-23'), row('2300', '2026-11-23'), row('0800', '2026-11-24')];
    const { scheduler, clock } = electron({ openAtLogin: true });
    assert.deepEqual(scheduler.select(rows, clock.time), rows.slice(0, 2));
  });

  test('runs the keeper after sleep until it is disconnected', () => {
    const { scheduler, target } = electron();
    const { notes, client, keeper } = listener();
    const end = scheduler.connect(client, keeper);
    target.emit('resume');
    end();
    target.emit('resume');
    assert.deepEqual(notes, ['trigger']);
  });

  for (const [isSupported, permission] of [[true, 'authorized'], [false, 'denied']]) {
    test(`is ${permission} where notifications are ${isSupported ? '' : 'not '}supported`, async () => {
      assert.equal(await electron({ isSupported }).scheduler.permission(), permission);
    });
  }

  test('names the app on Windows, and refuses to run there without a name', () => {
    assert.deepEqual(electron({ system: 'win32', appUserModelId: 'com.example' }).modelIds, ['com.example']);
    assert.deepEqual(electron({ system: 'linux', appUserModelId: 'com.example' }).modelIds, []);
    assert.throws(() => electron({ system: 'win32' }), TypeError);
  });
});
