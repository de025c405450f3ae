// The client of Tacet for web pages, Capacitor and Electron. `tacet.d.ts` describes everything that it exports.

import { ServiceCalls } from './tacet-calls.js';
import { PresenceReporter } from './tacet-presence.js';
import { ScheduleKeeper } from './tacet-schedule.js';
import { isObject, isWhole, makePlatform, parsed, TacetError } from './tacet-support.js';
import { actionQueue, eventQueue } from './tacet-telemetry.js';
import { WebPush } from './tacet-web-push.js';
import { isConfiguration, offsetAt, readSchedule } from './tacet-window.js';

export { CapacitorScheduler, ElectronScheduler } from './tacet-adapters.js';
export { PresenceReporter } from './tacet-presence.js';
export { ScheduleKeeper } from './tacet-schedule.js';
export { indexedStorage, localStorageStorage, memoryStorage, TacetError } from './tacet-support.js';
export { WebPush } from './tacet-web-push.js';

/** The slot of events of the whole device. */
const deviceSlot = '0000';

const isList = Array.isArray;
const isCount = (value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER);
const isReceipt = (answer) =>
  isObject(answer) && isCount(answer.accepted) && isCount(answer.duplicates) && isList(answer.rejected);
const isSlots = (answer) => isObject(answer) && typeof answer.enabled === 'boolean' && isList(answer.slots);

function surfacePath({ kind, id }) {
  return [...(kind === 'conversation' ? ['conversations'] : ['surfaces', kind]), id, 'last-seen'];
}

/** An app's client of the service, for one user at a time. */
export class TacetClient {
  #calls;
  #platform;
  #events;
  #actions;
  #deviceToken;

  constructor({ origin, token, deviceToken, storage, platform }) {
    this.deviceToken = deviceToken;
    this.#platform = makePlatform({ ...platform, ...(storage && { storage }) });
    this.#calls = new ServiceCalls(origin, token, this.#platform);
    this.#events = eventQueue(this, this.#platform.storage);
    this.#actions = actionQueue(this, this.#platform.storage);
    this.presence = new PresenceReporter(this, this.#platform);
    this.webPush = new WebPush(this.#calls, this.#platform);
  }

  get deviceToken() {
    return this.#deviceToken;
  }

  set deviceToken(token) {
    const isToken = token === undefined || /^([0-9a-f]{2}){1,256}$/i.test(token);
    if (!isToken) throw new TypeError('A device token is 2 to 512 hexadecimal digits.');
    this.#deviceToken = token?.toLowerCase();
  }

  // Devices and preferences.

  async register(device) {
    const { locale = this.#platform.navigator?.language, time_zone = this.#platform.zone() } = device;
    const { token, environment, app, platform, authorization, content, sealing_key } = device;
    const body = { environment, app, platform, locale, time_zone, authorization, content, sealing_key };
    this.deviceToken = token;
    await this.#calls.send('PUT', ['devices', this.deviceToken], { body });
  }

  async removeDevice(token) {
    const removed = token.toLowerCase();
    if (this.deviceToken === removed) this.deviceToken = undefined;
    await this.#calls.send('DELETE', ['devices', removed]);
  }

  preferences() {
    return this.#calls.document('GET', ['preferences'], isObject);
  }

  setPreferences(preferences) {
    return this.#calls.document('PUT', ['preferences'], isObject, { body: preferences });
  }

  // What the user looks at, reads and opens.

  async look(surface, { signal } = {}) {
    await this.#calls.send('PUT', surfacePath(surface), { tries: 1, signal });
  }

  async leave(surface) {
    // The page may be closing: a request that is kept alive outlives it.
    await this.#calls.send('DELETE', surfacePath(surface), { tries: 2, keepalive: true });
  }

  async markRead(conversation, { upTo, deviceToken = this.deviceToken } = {}) {
    const isRead = (answer) => isObject(answer) && isCount(answer.read) && isCount(answer.badge);
    const body = { up_to_message_id: upTo, device_token: deviceToken ?? (await this.webPush.mark()) };
    return this.#calls.document('POST', ['conversations', conversation, 'read'], isRead, { body });
  }

  async opened(pushLogID) {
    await this.#calls.send('POST', ['pushes', pushLogID, 'opened']);
  }

  async active() {
    await this.#calls.send('POST', ['activity']);
  }

  // Slots.

  async schedule({ days = 7, max = 64, deviceToken = this.deviceToken, unless } = {}) {
    const query = { days, max, device_token: deviceToken?.toLowerCase() };
    const { status, text, tag } = await this.#calls.send('GET', ['schedule'], { query, tag: unless?.tag });
    return status === 304 ? null : { ...readSchedule(parsed(text)), tag };
  }

  async configuration({ unless } = {}) {
    const { status, text, tag } = await this.#calls.send('GET', ['config'], { tag: unless?.tag });
    if (status === 304) return null;
    const found = parsed(text);
    if (!isConfiguration(found)) throw new TacetError('refused', { detail: 'The configuration cannot be read.' });
    return { flags: found.flags, channels: found.channels, categories: found.categories, tag };
  }

  slots(campaign) {
    return this.#calls.document('GET', ['slots', campaign], isSlots);
  }

  async choose(slots, campaign) {
    return readSchedule(parsed((await this.#calls.send('PUT', ['slots', campaign], { body: slots })).text));
  }

  deliver(slot, campaign) {
    const isDelivery = (answer) => isObject(answer) && typeof answer.queued === 'boolean';
    return this.#calls.document('POST', ['slots', campaign, slot, 'deliver'], isDelivery, { tries: 1 });
  }

  armSchedule(scheduler, options = {}) {
    const keeper = new ScheduleKeeper(this, scheduler, { ...options, platform: this.#platform });
    keeper.start();
    return keeper;
  }

  // Reports.

  reportAction(action) {
    return this.#calls.document('POST', ['actions'], isObject, { body: action });
  }

  reportEvents(events) {
    return this.#calls.document('POST', ['telemetry'], isReceipt, { body: { events } });
  }

  async takeAction(action, identifier) {
    const at = new Date(this.#platform.now()).toISOString();
    const report = { id: this.#platform.randomUUID(), action, identifier, at };
    try {
      return await this.reportAction(report);
    } catch (error) {
      if (!error.isTemporary && error.code !== 'unauthorized') throw error;
      await this.#actions.record(report);
      return null;
    }
  }

  async record(...events) {
    await this.#events.record(...events.map((event) => this.#envelope(event)));
  }

  async flush() {
    await this.#events.flush();
    await this.#actions.flush();
  }

  async forgetReports() {
    await this.#events.clear();
    await this.#actions.clear();
  }

  async waitingReports() {
    return (await this.#events.count()) + (await this.#actions.count());
  }

  #envelope({ code, id, identifier, slot, due, attempt = 1 }) {
    const { navigator, document } = this.#platform;
    const now = clamped(this.#platform.now());
    return {
      id: id ?? this.#platform.randomUUID(),
      code,
      slotId: slot ?? identifier?.split('.')[1] ?? deviceSlot,
      identifier,
      whenMs: clamped(due ?? now),
      attempt,
      networkState: typeof navigator?.onLine === 'boolean' ? (navigator.onLine ? 'online' : 'offline') : 'unknown',
      tzOffset: Math.round(offsetAt(now, this.#platform.zone()) / 60_000),
      appState: document?.visibilityState === 'hidden' ? 'background' : 'active',
      timestamp: now,
    };
  }
}

/** The nearest time in milliseconds since 1970 that the service takes: from 1970 to 2999. */
function clamped(time) {
  return Math.min(Math.max(Math.round(time) || 0, 0), 32_503_680_000_000);
}
