// A service worker's globals, in which `tacet-sw.js` runs.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { ManualClock, MockDatabase, MockNetwork, responseOf, settled, source } from './support.mjs';

export const origin = 'https://app.example.com';
export const pushID = '018f6f2e-7c1a-7b3c-9d2e-4f5a6b7c8d9e';

const script = new vm.Script(readFileSync(source('tacet-sw.js'), 'utf8'), { filename: 'tacet-sw.js' });

const formerSubscription = { fetch_token: 'f3tch', public_key: 'kEy', endpoint: 'https://old' };

/** A push's document with a notification of these members. */
export function pushOf(members = {}, others = {}) {
  const notification = {
    title: 'Ada', body: 'Hello', navigate: '/chats/1', tag: 't1', data: { push_log_id: pushID }, ...members,
  };
  return { web_push: 8030, notification, ...others };
}

/** A worker with its system: what is shown, which windows are open, and what the service got. */
export class WorkerScene {
  shown = [];
  shows = [];
  windows = [];
  openedURLs = [];
  syncs = [];
  listeners = {};
  showFails = 0;
  badges = [];

  constructor({ search = '', tacet, subscription = formerSubscription } = {}) {
    this.clock = new ManualClock();
    this.database = new MockDatabase();
    if (subscription) this.database.values.set('web_push', subscription);
    this.network = new MockNetwork(() => responseOf({ status: 204 }));
    const self = {
      location: new URL(`${origin}/clients/tacet-sw.js${search}`),
      tacet,
      indexedDB: this.database,
      navigator: { setAppBadge: (count) => (this.badges.push(count), new Promise(() => {})) },
      addEventListener: (type, listener) => (this.listeners[type] = listener),
      registration: this.#registration(),
      clients: {
        matchAll: async (
          { type, includeUncontrolled },
        ) => (type === 'window' && includeUncontrolled ? this.windows : []),
        openWindow: async (url) => void this.openedURLs.push(url),
      },
    };
    // Dates in the worker are the test's clock.
    const clock = this.clock;
    class ManualDate extends Date {
      constructor(...given) {
        super(...(given.length > 0 ? given : [clock.time]));
      }
    }
    script.runInContext(vm.createContext({
      self, fetch: this.network.fetch, setTimeout: this.clock.setTimeout, clearTimeout: this.clock.clearTimeout,
      URL, URLSearchParams, AbortController, crypto: { randomUUID }, Date: ManualDate, Promise, btoa,
    }));
    this.self = self;
  }

  #registration() {
    return {
      scope: `${origin}/`,
      getNotifications: async ({ tag } = {}) => this.shown.filter((one) => tag === undefined || one.tag === tag),
      showNotification: async (title, options) => {
        if (this.showFails > 0) {
          this.showFails -= 1;
          throw new TypeError('no');
        }
        const notification = { title, actions: [], ...structuredClone(options) };
        notification.close = () => (this.shown = this.shown.filter((one) => one !== notification));
        this.shown.push(notification);
        this.shows.push(notification);
      },
      sync: { register: async (tag) => void this.syncs.push(tag) },
      pushManager: { subscribe: async (options) => this.subscribe(options) },
    };
  }

  addWindow(url) {
    const page = { url, focused: 0, messages: [], focus: async () => void (page.focused += 1) };
    page.postMessage = (message) => page.messages.push(structuredClone(message));
    this.windows.push(page);
    return page;
  }

  /** Dispatches an event, and waits for all that it lets the worker wait for. */
  async emit(type, members = {}) {
    const waits = [];
    this.listeners[type]({ waitUntil: (work) => waits.push(work), ...members });
    await Promise.all(waits);
  }

  push(document) {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    return this.emit('push', { data: document === undefined ? null : { text: () => text } });
  }

  /** Clicks the notification that was shown last. */
  click(action = '') {
    return this.emit('notificationclick', { notification: this.shown.at(-1), action });
  }

  /** The events that the service got, in order. */
  get reports() {
    const requests = this.network.requests.filter(({ line }) => line === 'POST /v1/notifications/events');
    return requests.flatMap(({ body }) => body.events);
  }

  settled() {
    return settled();
  }
}
