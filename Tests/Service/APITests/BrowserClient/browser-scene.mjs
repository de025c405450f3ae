// A browser with Web Push, and the service that it subscribes to.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { makeClient, MockDatabase, MockNetwork, MockTarget, responseOf } from './support.mjs';

const keyOf = (byte) => Buffer.alloc(65, byte).toString('base64url');
export const [key, formerKey] = [keyOf(4), keyOf(5)];
export const bytes = (text) => new Uint8Array(Buffer.from(text, 'base64url'));

/** A browser: its permission, its subscription, and a service whose key is `key`. */
export class Browser {
  asked = 0;
  ended = [];
  subscribed = 0;
  /** Endpoints that have ended for good, as the service knows. */
  refused = [];
  put = { status: 200, body: { fetch_token: 'f3tch' } };
  served = { public_key: key };

  constructor({
    permission = 'default', answers = 'granted', subscription, stored, isActive = true, userAgent = 'x', capacitor,
    digest = (data) => webcrypto.subtle.digest('SHA-256', data),
  } = {}) {
    this.subscription = subscription && this.#made(subscription.endpoint, subscription.key);
    this.database = new MockDatabase();
    if (stored) this.database.values.set('web_push', stored);
    const Notification = {
      permission,
      requestPermission: async () => {
        this.asked += 1;
        return (Notification.permission = answers);
      },
    };
    const pushManager = {
      getSubscription: async () => this.subscription ?? null,
      subscribe: async ({ userVisibleOnly, applicationServerKey }) => {
        assert.equal(userVisibleOnly, true);
        assert.equal(this.subscription, undefined, 'InvalidStateError');
        this.subscribed += 1;
        return (this.subscription = this.#made('https://push/new', applicationServerKey));
      },
    };
    this.worker = new MockTarget({ ready: Promise.resolve({ pushManager }) });
    this.badges = [];
    this.navigator = {
      language: 'de-CH', userAgent, serviceWorker: this.worker, userActivation: { isActive },
      setAppBadge: async (count) => void this.badges.push(count),
    };
    this.window = new MockTarget({ Notification, PushManager: class {}, Capacitor: capacitor });
    this.network = new MockNetwork((request) => this.#answer(request));
    this.client = makeClient(this.network, {
      digest, zone: 'Europe/Zurich', indexedDB: this.database, navigator: this.navigator, window: this.window,
    });
  }

  #made(endpoint, applicationServerKey) {
    const subscription = {
      endpoint, options: { applicationServerKey },
      toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: 'p', auth: 'a', other: 'o' } }),
      unsubscribe: async () => {
        this.ended.push(endpoint);
        this.subscription = undefined;
      },
    };
    return subscription;
  }

  #answer({ line, body }) {
    if (line.endsWith('/read')) return responseOf({ status: 200, body: { read: 1, badge: 0 } });
    if (line === 'GET /v1/web-push/key') return responseOf({ status: 200, body: this.served });
    assert.match(line, /^(PUT|DELETE) \/v1\/web-push\/subscriptions$/);
    assert.equal(typeof body.endpoint, 'string');
    if (line.startsWith('DELETE')) return responseOf({ status: 204 });
    return responseOf(this.refused.includes(body.endpoint) ? { status: 410, body: { field: 'endpoint' } } : this.put);
  }

  get lines() {
    return this.network.requests.map(({ line, body }) => [line.split(' ')[0], body?.endpoint ?? 'key'].join(' '));
  }

  get stored() {
    return this.database.values.get('web_push');
  }
}
