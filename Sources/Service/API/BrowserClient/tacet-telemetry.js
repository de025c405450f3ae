// What a device did, kept until the service has it.

import { isObject, isText, isWhole, parsed } from './tacet-support.js';

/** Codes of events, as of `POST /v1/telemetry`. */
export const eventCodes = [
  'armed', 'delivered', 'opened', 'dismissed', 'cancelled', 'FETCH_TIMEOUT', 'ETAG_NOT_MODIFIED', 'SCHEDULE_DENIED',
  'EXACT_ALARM_MISSING', 'STORAGE_BUSY', 'TEMPLATE_MISSING_TOKEN', 'PERMISSION_DENIED',
];

/** The identifier of a row: campaign, slot and day. Others are not the client's. */
export const identifierPattern =
  /^([a-z][a-z0-9_]{0,62})\.((?:[01][0-9]|2[0-3])[0-5][0-9])\.(2[0-9]{3}-[0-9]{2}-[0-9]{2})$/;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const millisecondsMax = 32_503_680_000_000;

/** Whether the service takes an event. All its texts are ASCII then, so characters are bytes. It has no token yet. */
export function isEvent(event) {
  return (
    isObject(event) && uuidPattern.test(event.id) && eventCodes.includes(event.code)
    && /^([01][0-9]|2[0-3])[0-5][0-9]$/.test(event.slotId)
    && (event.identifier === undefined || (isText(event.identifier, 80) && identifierPattern.test(event.identifier)))
    && event.device_token === undefined
    && isWhole(event.whenMs, 0, millisecondsMax) && isWhole(event.attempt, 0, 2 ** 31 - 1)
    && ['online', 'offline', 'unknown'].includes(event.networkState) && isWhole(event.tzOffset, -1440, 1440)
    && ['active', 'background', 'killed'].includes(event.appState) && isWhole(event.timestamp, 0, millisecondsMax)
  );
}

/** Whether the service takes an action. */
export function isAction(action) {
  return (
    isObject(action) && uuidPattern.test(action.id) && /^[A-Za-z0-9_.-]{1,64}$/.test(action.action)
    && isText(action.identifier, 80) && identifierPattern.test(action.identifier)
    && isText(action.at, 40) && !Number.isNaN(Date.parse(action.at))
  );
}

/**
 * Reports that wait in the store under one key: the oldest give way beyond `max`, and an id waits once.
 *
 * One page or app uses a store at a time. Two pages may send a report twice, which the service counts once.
 */
export class ReportQueue {
  #storage;
  #key;
  #max;
  #isReport;
  #takeBatch;
  #send;
  #reports;
  #flushing;
  #writing = Promise.resolve();

  /** `send` gets a batch, which `takeBatch` cuts from the start of those that wait. */
  constructor({ storage, key, max, isReport, takeBatch, send }) {
    [this.#storage, this.#key, this.#max] = [storage, key, max];
    [this.#isReport, this.#takeBatch, this.#send] = [isReport, takeBatch, send];
  }

  /** The number of reports that wait. */
  async count() {
    return (await this.#load()).length;
  }

  /** Keeps reports. Throws a `TypeError` for one that the service would refuse. */
  async record(...reports) {
    if (!reports.every(this.#isReport)) throw new TypeError('The service does not take such a report.');
    const waiting = await this.#load();
    const known = new Set(waiting.map((report) => report.id));
    for (const report of reports) if (!known.has(report.id) && known.add(report.id)) waiting.push(report);
    waiting.splice(0, waiting.length - this.#max);
    await this.#save();
  }

  /** Sends what waits, and ends at the first failure that may pass. Calls at the same time are one. */
  flush() {
    this.#flushing ??= this.#sendAll().finally(() => (this.#flushing = undefined));
    return this.#flushing;
  }

  /** Forgets what waits. */
  async clear() {
    this.#reports = Promise.resolve([]);
    await this.#save();
  }

  async #sendAll() {
    for (;;) {
      const waiting = await this.#load();
      if (waiting.length === 0) return;
      const batch = this.#takeBatch(waiting);
      try {
        await this.#send(batch);
      } catch (error) {
        // Only a refused batch is lost: sent again, it would be refused again.
        if (error.code !== 'refused') return;
      }
      const sent = new Set(batch);
      const rest = (await this.#load()).filter((report) => !sent.has(report));
      this.#reports = Promise.resolve(rest);
      await this.#save();
    }
  }

  #load() {
    this.#reports ??= this.#storage.get(this.#key).then(
      (text) => {
        const reports = typeof text === 'string' ? parsed(text) : undefined;
        return Array.isArray(reports) ? reports.filter(this.#isReport).slice(-this.#max) : [];
      },
      () => [],
    );
    return this.#reports;
  }

  /** A store that fails leaves the reports in memory. Writes follow one another, so the last state is stored last. */
  #save() {
    this.#writing = this.#writing.then(async () => {
      await this.#storage.set(this.#key, JSON.stringify(await this.#load())).catch(() => {});
    });
    return this.#writing;
  }
}

/** Most events and bytes of a request. 1 KiB is left for what surrounds the events, each of which is smaller. */
const [batchMax, batchBytesMax] = [100, 63 * 1024];

/** `token` is the device token that each event gets when it is sent, so that the store holds none. */
function eventBatch(events, token = '') {
  let [count, bytes] = [0, 0];
  while (count < Math.min(events.length, batchMax)) {
    bytes += JSON.stringify({ ...events[count], device_token: token }).length + 1;
    if (bytes > batchBytesMax) break;
    count += 1;
  }
  return events.slice(0, count);
}

/** The events of a client that wait: 1000 at most, some 500 KiB. */
export function eventQueue(client, storage) {
  return new ReportQueue({
    storage, key: 'tacet.events', max: 1000, isReport: isEvent,
    takeBatch: (events) => eventBatch(events, client.deviceToken),
    send: (events) => client.reportEvents(events.map((event) => ({ ...event, device_token: client.deviceToken }))),
  });
}

/** The actions of a client that wait, 100 at most. */
export function actionQueue(client, storage) {
  return new ReportQueue({
    storage, key: 'tacet.actions', max: 100, isReport: isAction, takeBatch: (actions) => actions.slice(0, 1),
    send: ([action]) => client.reportAction(action),
  });
}
