// The cases of `schedule-cases.json`, which the Swift client runs too.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryStorage, ScheduleKeeper } from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { cases, makeClient, ManualClock, MockNetwork, scripted, settled } from './support.mjs';

/** A case's list of identifiers and of products of days and slots, as identifiers. */
function identifiers(list = []) {
  return list.flatMap((element) => (element.slots ? product(element) : [element]));
}

function product({ campaign, slots, from, days }) {
  const first = Date.parse(`${from}T00:00:00Z`);
  return Array.from({ length: days }, (_, index) => new Date(first + index * 86_400_000).toISOString().slice(0, 10))
    .flatMap((day) => slots.map((slot) => `${campaign}.${slot}.${day}`));
}

function row(element) {
  const { identifier, ...members } = typeof element === 'string' ? { identifier: element } : element;
  const [campaign, slot, day] = identifier.split('.');
  const localTime = `${day}T${slot?.slice(0, 2)}:${slot?.slice(2)}:00`;
  const made = {
    identifier, campaign, slot, fire_date: day, fire_at: `${localTime}Z`, local_time: localTime, title: 'T', body: 'B',
    category: 'TS_DAILY', thread_id: `${campaign}.${day}`, data: { type: campaign, slot }, tolerance_seconds: 0,
    ...members,
  };
  return Object.fromEntries(Object.entries(made).filter(([, value]) => value !== null));
}

function scheduleAnswer(answer) {
  if (!answer.rows) return answer;
  return { ...answer, body: { settings_hint: false, rows: identifiers(answer.rows).map(row) } };
}

/** A system that holds pending notifications. */
class MockScheduler {
  permissionNow = 'authorized';
  isExact = undefined;
  armLimit = Infinity;
  armed = [];
  cancelled = [];
  instants = {};

  constructor(pending) {
    this.held = new Set(pending);
  }

  permission = async () => this.permissionNow;
  exactAlarms = async () => this.isExact;
  pending = async () => [...this.held];

  arm = async ({ identifier, at }) => {
    if (this.armed.length >= this.armLimit) throw Object.assign(new Error('denied'), { code: 'SCHEDULE_DENIED' });
    assert(!this.held.has(identifier), `${identifier} is armed twice`);
    this.held.add(identifier);
    this.armed.push(identifier);
    this.instants[identifier] = new Date(at).toISOString().replace('.000Z', 'Z');
  };

  cancel = async (list) => {
    assert.notEqual(list.length, 0);
    for (const identifier of list) assert(this.held.delete(identifier), `${identifier} is cancelled and not pending`);
    this.cancelled.push(...list);
  };
}

/** A case while it is played. */
class Scene {
  constructor({ now, zone, permission = 'authorized', pending, stored }) {
    this.clock = new ManualClock(now);
    this.zone = zone;
    this.scheduler = new MockScheduler(pending);
    this.scheduler.permissionNow = permission;
    this.storage = memoryStorage();
    for (const key of ['tacet.schedule', 'tacet.events', 'tacet.actions']) if (stored) this.storage.set(key, stored);
    this.network = new MockNetwork((request) => this.answer(request));
    this.restart();
  }

  restart() {
    this.client = makeClient(this.network, { clock: this.clock, storage: this.storage, zone: () => this.zone });
    const platform = {
      now: this.clock.now, setTimeout: this.clock.setTimeout, clearTimeout: this.clock.clearTimeout,
      zone: () => this.zone, storage: this.storage,
    };
    this.keeper = new ScheduleKeeper(
      this.client, this.scheduler, { platform, onError: (error) => (this.error = error) },
    );
  }

  prepare(step) {
    const { at, zone, permission, exact_alarms: isExact, pending_gone: gone, server = {}, do: what } = step;
    if (at && what !== 'pass') this.clock.time = Date.parse(at);
    this.zone = zone ?? this.zone;
    Object.assign(this.scheduler, { armed: [], cancelled: [], armLimit: step.arm_denied_after ?? Infinity });
    this.scheduler.permissionNow = permission ?? this.scheduler.permissionNow;
    this.scheduler.isExact = isExact ?? this.scheduler.isExact;
    for (const identifier of identifiers(gone)) assert(this.scheduler.held.delete(identifier), identifier);
    this.network.requests.length = 0;
    this.error = undefined;
    const accepted = { status: 200, body: { accepted: 0, duplicates: 0, rejected: [] } };
    this.telemetry = scripted(server.telemetry ?? accepted);
    this.schedule = scripted([server.schedule ?? 'offline'].flat().map(scheduleAnswer));
  }

  answer({ line }) {
    if (line === 'GET /v1/schedule?days=7&max=64') return this.schedule();
    assert.equal(line, 'POST /v1/telemetry');
    return this.telemetry();
  }

  async perform({ do: what, at }) {
    if (what === 'keep') await this.keeper.keep().catch((error) => (this.error = error));
    if (what === 'trigger') this.keeper.trigger();
    if (what === 'pass') await this.clock.pass(Date.parse(at));
    if (what === 'clear') await this.keeper.clear();
    if (what === 'restart') this.restart();
    await settled();
  }

  async check(expect) {
    const { armed, cancelled, reads, sent, queued, pending, armed_at: instants = {}, error } = expect;
    assert.equal(this.error?.code, error, this.error?.stack);
    assert.deepEqual(this.scheduler.armed, identifiers(armed), 'armed');
    assert.deepEqual(this.scheduler.cancelled.sort(), identifiers(cancelled).sort(), 'cancelled');
    const { requests } = this.network;
    const isRead = ({ line }) => line.startsWith('GET');
    if (reads) assert.deepEqual(requests.filter(isRead).map(({ tag }) => tag), reads, 'reads');
    const events = requests.filter((request) => !isRead(request)).flatMap(({ body }) => body.events);
    const words = ({ code, identifier }) => (identifier ? `${code} ${identifier}` : code);
    if (sent) assert.deepEqual(events.map(words), sent, 'sent');
    if (queued !== undefined) assert.equal(await this.client.waitingReports(), queued, 'queued');
    if (pending) assert.deepEqual([...this.scheduler.held].sort(), identifiers(pending).sort(), 'pending');
    for (const [identifier, at] of Object.entries(instants)) assert.equal(this.scheduler.instants[identifier], at);
  }
}

describe('Schedules, by the common table', () => {
  for (const { name, given, steps, only } of cases('schedule-cases')) {
    test(name, { skip: only === 'swift' }, async () => {
      const scene = new Scene(given);
      for (const step of steps) {
        scene.prepare(step);
        await scene.perform(step);
        await scene.check(step.expect);
      }
    });
  }
});
