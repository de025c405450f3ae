// Fakes of what a browser gives: time, network, stores, notifications. Nothing here waits.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { memoryStorage, TacetClient } from '../../../../Sources/Service/API/BrowserClient/tacet.js';

export const source = (name) => new URL(`../../../../Sources/Service/API/BrowserClient/${name}`, import.meta.url);
export const cases = (name) => JSON.parse(readFileSync(new URL(`../../../Client/TacetClientTests/Cases/${name}.json`, import.meta.url), 'utf8'));

/** Time that a test moves, with the timers that are due by it. */
export class ManualClock {
  constructor(now = '2026-11-22T06:00:00Z') {
    this.time = Date.parse(now);
    this.timers = new Map();
    this.last = 0;
  }

  now = () => this.time;

  setTimeout = (work, milliseconds) => {
    this.last += 1;
    this.timers.set(this.last, { at: this.time + milliseconds, work });
    return this.last;
  };

  clearTimeout = (timer) => void this.timers.delete(timer);

  /** Goes on to a time. Timers run in the order in which they are due, each after the work of the one before. */
  async pass(until) {
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= until);
      if (due.length === 0) break;
      const [timer, { at, work }] = due.reduce((one, other) => (other[1].at < one[1].at ? other : one));
      this.timers.delete(timer);
      this.time = Math.max(this.time, at);
      work();
      await settled();
    }
    this.time = until;
  }
}

/** Ends when nothing is left to do that only promises wait for. Streams of responses need turns of the loop. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Answers requests by a function `(request) => response | 'offline'`, and notes them. */
export class MockNetwork {
  requests = [];

  constructor(answer) {
    this.answer = answer;
  }

  fetch = async (url, options = {}) => {
    const { pathname, search } = new URL(url);
    const headers = new Headers(options.headers);
    const request = {
      line: `${options.method ?? 'GET'} ${pathname}${search}`,
      body: options.body === undefined ? undefined : JSON.parse(options.body),
      tag: headers.get('if-none-match'),
      authorization: headers.get('authorization'),
      options,
      url,
    };
    this.requests.push(request);
    const answer = await this.answer(request);
    if (answer === 'offline') throw new TypeError('fetch failed');
    return answer;
  };

  get lines() {
    return this.requests.map((request) => request.line);
  }
}

/** A response of an answer in a case. */
export function responseOf(answer) {
  if (answer === 'offline') return answer;
  const { status, etag, retry_after: retryAfter, body } = answer;
  const headers = { ...(etag && { etag }), ...(retryAfter && { 'retry-after': retryAfter }) };
  const isEmpty = body === undefined || status === 204 || status === 304;
  return new Response(isEmpty ? null : JSON.stringify(body), { status, headers });
}

/** Gives the answers of a step in order; the last one repeats. */
export function scripted(answers) {
  const left = [answers].flat();
  return () => responseOf(left.length > 1 ? left.shift() : left[0]);
}

/** A target of events whose listeners a test calls. */
export class MockTarget extends EventTarget {
  constructor(members = {}) {
    super();
    Object.assign(this, members);
  }

  emit(type, members = {}) {
    this.dispatchEvent(Object.assign(new Event(type), members));
  }
}

export function makeClient(network, { clock = new ManualClock(), zone = 'UTC', token = 't0ken', ...platform } = {}) {
  return new TacetClient({
    origin: 'https://push.example.com',
    token: async () => {
      if (token === null) throw new Error('no user');
      return token;
    },
    platform: {
      fetch: network.fetch, now: clock.now, setTimeout: clock.setTimeout, clearTimeout: clock.clearTimeout,
      zone: typeof zone === 'function' ? zone : () => zone, sleep: async () => {}, randomUUID, storage: memoryStorage(),
      window: undefined, document: undefined, navigator: undefined, indexedDB: undefined, ...platform,
    },
  });
}

/** A database of one store, as `indexedDB`. `fails` makes every request fail. */
export class MockDatabase {
  values = new Map();
  fails = false;

  #request(work) {
    const request = {};
    queueMicrotask(() => {
      if (this.fails) {
        request.error = new Error('blocked');
        return request.onerror?.();
      }
      request.result = work();
      request.onsuccess?.();
    });
    return request;
  }

  open() {
    const store = {
      get: (key) => this.#request(() => structuredClone(this.values.get(key))),
      put: (value, key) => this.#request(() => void this.values.set(key, structuredClone(value))),
      delete: (key) => this.#request(() => void this.values.delete(key)),
    };
    const database = {
      createObjectStore: () => {}, transaction: () => ({ objectStore: () => store }), close: () => {},
    };
    const request = this.#request(() => database);
    request.result = database;
    queueMicrotask(() => request.onupgradeneeded?.());
    return request;
  }
}
