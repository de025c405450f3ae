// Web Push: the page's side of a subscription.

import { indexedStorage, isObject, isText, memoryStorage, TacetError } from './tacet-support.js';

const storageKey = 'web_push';
const path = ['web-push', 'subscriptions'];

/** The bytes of base64url text. */
function bytesOf(text) {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function hexadecimal(buffer) {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether a subscription was made for a key. Browsers that do not say are taken to be right. */
function isFor(subscription, key) {
  const own = subscription.options?.applicationServerKey;
  if (!own) return true;
  const [one, other] = [new Uint8Array(own), bytesOf(key)];
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/**
 * The browser's subscription. `enable` makes one and needs a tap. `check` at each start of the page only compares one
 * that is there. What the service worker needs of it is in their common database.
 */
export class WebPush {
  #calls;
  #platform;
  #storage;

  constructor(calls, platform) {
    [this.#calls, this.#platform] = [calls, platform];
    this.#storage = platform.indexedDB ? indexedStorage(platform.indexedDB) : memoryStorage();
    platform.navigator?.serviceWorker?.addEventListener?.('message', (event) => this.#setBadge(event.data));
  }

  /** `on`, `off`, `denied` or `unsupported`, without a request. */
  async state() {
    return (await this.#look()).state;
  }

  async #look() {
    if (!this.#isSupported) return { state: 'unsupported' };
    if (this.#permission === 'denied') return { state: 'denied' };
    const { pushManager } = await this.#registration();
    const subscription = await pushManager.getSubscription();
    const state = subscription && this.#permission === 'granted' ? 'on' : 'off';
    return { state, subscription, pushManager };
  }

  /**
   * Asks the user and subscribes. Call it from the handler of a tap, before anything is awaited there: browsers show
   * the question to users who have just asked for it. Resolves to the new state.
   */
  async enable(options = {}) {
    if (!this.#isSupported) return 'unsupported';
    if (this.#platform.navigator.userActivation?.isActive === false) throw new TacetError('needs_tap');
    const permission = await this.#platform.window.Notification.requestPermission();
    if (permission !== 'granted') return permission === 'denied' ? 'denied' : 'off';
    const key = await this.#key();
    const { pushManager } = await this.#registration();
    const subscription = await this.#current(pushManager, await pushManager.getSubscription(), key);
    await this.#reportUsable(pushManager, subscription, key, options);
    return 'on';
  }

  /**
   * Compares the subscription that is there with what the service knows, and reports it. One for a former key of the
   * service is replaced, and so is one that never works again. Where there is none, none is made. Resolves to the state.
   */
  async check(options = {}) {
    const { state, subscription: found, pushManager } = await this.#look();
    const stored = await this.#stored();
    if (state !== 'on') {
      if (state !== 'unsupported') await this.#forgetFormer(stored);
      return state;
    }
    const key = await this.#key();
    const subscription = await this.#current(pushManager, found, key);
    if (stored.endpoint !== subscription.endpoint) await this.#forgetFormer(stored);
    await this.#reportUsable(pushManager, subscription, key, options);
    return 'on';
  }

  /** Ends the subscription, here and at the service. Call it before the user logs out. */
  async disable() {
    if (!this.#isSupported) return 'unsupported';
    const subscription = await (await this.#registration()).pushManager.getSubscription();
    const endpoint = subscription?.endpoint ?? (await this.#stored()).endpoint;
    await subscription?.unsubscribe();
    if (endpoint) await this.#forget(endpoint);
    return 'off';
  }

  /** What the service calls this browser where an app has its device token; undefined without a subscription. */
  async mark() {
    const { endpoint } = await this.#stored();
    if (!endpoint) return undefined;
    const digest = await this.#platform.digest(new TextEncoder().encode(endpoint)).catch(() => undefined);
    return digest && hexadecimal(digest).slice(0, 32);
  }

  /** Wrapped apps have the system's notifications, which no service worker handles. */
  get #isSupported() {
    const { navigator, window } = this.#platform;
    const isWrapped = window?.Capacitor?.isNativePlatform?.() || / Electron\//.test(navigator?.userAgent ?? '');
    return Boolean(!isWrapped && navigator?.serviceWorker && window?.PushManager && window?.Notification);
  }

  get #permission() {
    return this.#platform.window.Notification.permission;
  }

  /** The page registers the worker itself, so that it decides its scope. */
  #registration() {
    return this.#platform.navigator.serviceWorker.ready;
  }

  async #key() {
    const isKey = (answer) => isObject(answer) && /^[A-Za-z0-9_-]{87}$/.test(answer.public_key);
    return (await this.#calls.document('GET', ['web-push', 'key'], isKey, { isPublic: true })).public_key;
  }

  /** The subscription for a key. A browser refuses a second key until the first subscription has ended. */
  async #current(pushManager, subscription, key) {
    if (subscription && isFor(subscription, key)) return subscription;
    await subscription?.unsubscribe();
    return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
  }

  /** Reports a subscription. The service refuses the endpoint of one that has ended for good; then a new one takes its place. */
  async #reportUsable(pushManager, subscription, key, options) {
    try {
      await this.#report(subscription, key, options);
    } catch (error) {
      if (error.field !== 'endpoint') throw error;
      await subscription.unsubscribe();
      await this.#report(await this.#current(pushManager, null, key), key, options);
    }
  }

  async #report(subscription, key, { locale, timeZone, content } = {}) {
    const { endpoint, keys, expirationTime } = subscription.toJSON();
    const body = {
      endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth },
      expiration_time: typeof expirationTime === 'number' ? new Date(expirationTime).toISOString() : undefined,
      locale: locale ?? this.#platform.navigator.language,
      time_zone: timeZone ?? this.#platform.zone(),
      content,
    };
    const isAnswer = (answer) => isObject(answer) && isText(answer.fetch_token, 1024);
    const { fetch_token } = await this.#calls.document('PUT', path, isAnswer, { body });
    await this.#storage.set(storageKey, { endpoint, public_key: key, fetch_token });
  }

  async #forget(endpoint) {
    await this.#calls.send('DELETE', path, { body: { endpoint } });
    await this.#storage.remove(storageKey);
  }

  /** The next start tries again; pushes to a former endpoint end with the push service's refusal anyway. */
  async #forgetFormer({ endpoint }) {
    if (endpoint) await this.#forget(endpoint).catch(() => {});
  }

  async #stored() {
    const value = await this.#storage.get(storageKey).catch(() => undefined);
    return isObject(value) ? value : {};
  }

  #setBadge(message) {
    if (!isObject(message) || message.type !== 'tacet.badge' || !Number.isInteger(message.app_badge)) return;
    this.#platform.navigator.setAppBadge?.(Math.min(Math.max(message.app_badge, 0), 99_999))?.catch?.(() => {});
  }
}
