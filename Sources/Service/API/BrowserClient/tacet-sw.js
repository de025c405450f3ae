/*
 * Shows pushes and reports what users do with them: a service worker, or a part of one by `importScripts`.
 *
 * Settings are query parameters of the worker's address, or members of `self.tacet` if the worker sets it first:
 *   service  the service's address; default the worker's origin
 *   title    the neutral text's title; default "New notification"
 *   body     its body; default empty
 *   quiet    the title that remains when everything was read elsewhere; default "You are up to date"
 *   open     the page for notifications without a usable address; default the worker's scope
 *   origins  other origins that a notification may open, separated by commas
 *   icon     the address of an icon
 *   route    "1": an open page is told the address by a message `{type: "tacet.open", navigate}`; else a new one opens
 *
 * Browsers end the subscriptions of origins whose pushes show nothing, so each push shows something. A push that only
 * clears shows one of the remaining notifications again without a sound, else the quiet title.
 */
(() => {
  'use strict';

  const timeoutMilliseconds = 12_000;
  /** Characters; a push has at most 4096 bytes. */
  const documentMax = 8192;
  const urlMax = 2048;
  const reportsMax = 200;
  const reportsPerRequest = 100;
  const given = self.tacet ?? Object.fromEntries(new URLSearchParams(self.location.search));
  const settings = {
    service: String(given.service ?? self.location.origin).replace(/\/+$/, ''),
    title: String(given.title ?? 'New notification'),
    body: String(given.body ?? ''),
    quiet: String(given.quiet ?? 'You are up to date'),
    open: given.open,
    origins: Array.isArray(given.origins) ? given.origins : String(given.origins ?? '').split(','),
    icon: given.icon,
    isRouted: given.route === true || given.route === '1',
  };

  // Values from outside. Each is bounded here and nowhere else.

  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const text = (value, max) => (typeof value === 'string' ? [...value.slice(0, 2 * max)].slice(0, max).join('') : '');
  const list = (value, max) => (Array.isArray(value) ? value.slice(0, max) : []);

  /** An address that a click may open; null for another scheme, a foreign origin, or credentials in it. */
  function target(value) {
    if (typeof value !== 'string' || value === '' || value.length > urlMax) return null;
    let url;
    try { url = new URL(value, self.location.origin); } catch { return null; }
    const isKnown = url.origin === self.location.origin || settings.origins.includes(url.origin);
    const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
    const isPlain = url.username === '' && url.password === '' && url.href.length <= urlMax;
    return isKnown && isWeb && isPlain ? url.href : null;
  }

  const home = () => target(settings.open) ?? self.registration.scope;

  /** A count for the app's icon, as a number or as digits; undefined for anything else. */
  function badge(value) {
    if (typeof value !== 'number' && !/^[0-9]{1,5}$/.test(value)) return undefined;
    const count = Number(value);
    return Number.isInteger(count) && count >= 0 && count <= 99_999 ? count : undefined;
  }

  function actions(value) {
    return list(value, 4)
      .filter(isObject)
      .map(({ action, title, navigate }) => ({ action: text(action, 64), title: text(title, 50), navigate }))
      .filter(({ action, title }) => action !== '' && title !== '');
  }

  /** A notification of a push: what is shown and, in its data, what a click needs. Null without a title. */
  function notification(value) {
    if (!isObject(value) || text(value.title, 200) === '') return null;
    const buttons = actions(value.actions);
    const image = /^https:\/\//.test(value.image) ? text(value.image, urlMax) : '';
    const own = { navigate: target(value.navigate), actions: {} };
    for (const { action, navigate } of buttons) own.actions['$' + action] = target(navigate);
    return {
      title: text(value.title, 200),
      options: {
        body: text(value.body, 1000),
        tag: text(value.tag, 128),
        silent: value.silent === true,
        actions: buttons.map(({ action, title }) => ({ action, title })),
        ...(settings.icon && { icon: settings.icon }),
        ...(image && { image }),
        ...(value.lang && { lang: text(value.lang, 35) }),
        data: { ...(isObject(value.data) ? value.data : {}), tacet: own },
      },
    };
  }

  /** A push's document. */
  function message(json) {
    if (json.length > documentMax) throw new Error('too long');
    const document = JSON.parse(json);
    if (!isObject(document) || document.web_push !== 8030) throw new Error('unknown');
    const tacet = isObject(document.tacet) ? document.tacet : {};
    return {
      notification: notification(document.notification),
      clear: Array.isArray(tacet.clear) ? list(tacet.clear, 100).map((tag) => text(tag, 128)).filter(Boolean) : null,
      badge: badge(tacet.app_badge ?? document.notification?.app_badge ?? document.app_badge),
    };
  }

  // The database that the worker shares with the page.

  function finished(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  async function database() {
    const opening = self.indexedDB.open('tacet', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('values');
    return finished(opening);
  }

  /** Reads a value, and replaces it in the same transaction by what `change` makes of it. */
  async function stored(key, change) {
    const opened = await database();
    try {
      const values = opened.transaction('values', change ? 'readwrite' : 'readonly').objectStore('values');
      const value = await finished(values.get(key));
      if (change) await finished(values.put(change(value), key));
      return value;
    } finally {
      opened.close();
    }
  }

  /** The subscription as the page left it: `{endpoint, public_key, fetch_token}`. */
  async function subscription() {
    const value = await stored('web_push');
    return isObject(value) ? value : {};
  }

  // Requests.

  /** Runs work that is given up after 12 seconds, also if it ignores its signal. */
  async function inTime(work) {
    const abort = new AbortController();
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => {
        abort.abort();
        reject(new Error('late'));
      }, timeoutMilliseconds);
    });
    try { return await Promise.race([work(abort.signal), late]); } finally { clearTimeout(timer); }
  }

  function request(method, path, signal, token, body) {
    const headers = { ...(token && { authorization: `Bearer ${token}` }) };
    if (body) headers['content-type'] = 'application/json';
    return fetch(settings.service + path, {
      method, headers, signal, body: body && JSON.stringify(body),
      credentials: 'omit', redirect: 'error', cache: 'no-store',
    });
  }

  /** The newest push of the subscription; null without one. */
  async function latest(signal) {
    const token = (await subscription()).fetch_token;
    if (!token) return null;
    const response = await request('GET', '/v1/notifications/latest', signal, token);
    if (response.status !== 200 || Number(response.headers.get('content-length')) > 4 * documentMax) return null;
    return message(await response.text());
  }

  // Pushes.

  const isOwn = (shown) => isObject(shown.data?.tacet);

  async function ownNotifications(filter) {
    return (await self.registration.getNotifications(filter)).filter(isOwn);
  }

  /** Notifications that this worker has closed, by their ids, until the browser says that they are. */
  const ended = new Set();

  function end(shown) {
    ended.add(shown.data.tacet.id);
    shown.close();
  }

  async function close(tag) {
    (await ownNotifications({ tag })).forEach(end);
  }

  /** By what a read names a notification: the message that it shows. A burst has the tag of its first message. */
  const nameOf = ({ tag, data }) => (typeof data.message_id === 'string' ? data.message_id : tag);

  function plain(title, body, tag, silent) {
    return notification({ title: title || 'New notification', body, tag, silent });
  }

  async function present({ title, options }) {
    // iOS stacks notifications of one tag, so the old one is closed first. A failure here must not hide the new one.
    try { if (options.tag) await close(options.tag); } catch {}
    const data = { ...options.data, tacet: { ...options.data.tacet, id: crypto.randomUUID() } };
    try {
      await self.registration.showNotification(title, { ...options, data });
    } catch {
      await self.registration.showNotification(title, { tag: options.tag, data });
    }
  }

  /** What a push shows that only clears. Firefox may list a notification for a moment after it was closed. */
  async function remaining(cleared) {
    const rest = (await ownNotifications()).filter((one) => !cleared.includes(nameOf(one)));
    const last = rest[rest.length - 1];
    if (!last) return plain(settings.quiet, '', 'tacet.quiet', true);
    const { title, body, tag, icon, data, actions: buttons } = last;
    const options = { body, tag, data, silent: true, ...(icon && { icon }), ...(buttons && { actions: [...buttons] }) };
    return { title, options };
  }

  async function content(event) {
    // Of a declarative push the browser gives the notification, and on iOS no data.
    if (event.notification) return { notification: notification(event.notification), clear: null };
    const json = event.data?.text() ?? '';
    return json === '' ? inTime(latest) : message(json);
  }

  async function received(event) {
    const neutral = plain(settings.title, settings.body, 'tacet.neutral', false);
    let found = null;
    let shown = neutral;
    try {
      found = await content(event);
      const cleared = ['tacet.quiet', ...(found?.clear ?? [])];
      (await ownNotifications()).filter((one) => cleared.includes(nameOf(one))).forEach(end);
      shown = found?.notification ?? (found?.clear ? await remaining(cleared) : neutral);
    } catch {
      shown = found?.notification ?? neutral;
    }
    await present(shown);
    await Promise.allSettled([count(found?.badge), sendReports()]);
  }

  /** Sets the app's badge, and lets pages set it: in a worker on iOS the call never ends, so nothing waits for it. */
  async function count(value) {
    if (value === undefined) return;
    self.navigator?.setAppBadge?.(value)?.catch?.(() => {});
    for (const page of await pages()) page.postMessage({ type: 'tacet.badge', app_badge: value });
  }

  // Clicks.

  const pages = () => self.clients.matchAll({ type: 'window', includeUncontrolled: true });

  async function open(url) {
    const all = await pages();
    const same = all.find((page) => page.url === url);
    if (same) return same.focus();
    const other = settings.isRouted && all.find((page) => new URL(page.url).origin === new URL(url).origin);
    if (!other) return self.clients.openWindow(url);
    other.postMessage({ type: 'tacet.open', navigate: url });
    return other.focus();
  }

  /** What a click opens: an action without an address opens nothing. */
  function opened(shown, action) {
    const own = shown.data.tacet;
    return target(action ? own.actions?.['$' + action] : own.navigate) ?? (action ? null : home());
  }

  function clicked(event) {
    const shown = event.notification;
    if (!isOwn(shown)) return;
    end(shown);
    const url = opened(shown, event.action);
    // Opening comes first: the permission that a click gives ends soon.
    const opening = url ? open(url) : null;
    const report = event.action ? { event: 'action', action: event.action } : { event: 'opened' };
    event.waitUntil(Promise.allSettled([opening, noted(shown, report)]));
  }

  /** Firefox sends this event also after `close()` and after a click, where the user has dismissed nothing. */
  function closed(event) {
    const shown = event.notification;
    if (isOwn(shown) && !ended.delete(shown.data.tacet.id)) event.waitUntil(noted(shown, { event: 'dismissed' }));
  }

  // Reports. They wait in the database until the service has them.

  async function noted(shown, report) {
    const id = shown.data.push_log_id;
    if (typeof id !== 'string' || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return;
    const entry = { key: crypto.randomUUID(), report: { push_log_id: id, ...report, at: new Date().toISOString() } };
    await stored('reports', (waiting) => [...list(waiting, reportsMax), entry].slice(-reportsMax));
    await sendReports();
  }

  async function sendReports() {
    const waiting = list(await stored('reports'), reportsMax).filter(isObject);
    const token = (await subscription()).fetch_token;
    if (waiting.length === 0 || !token) return;
    const batch = waiting.slice(0, reportsPerRequest);
    try {
      const events = batch.map((entry) => entry.report);
      const { ok, status } = await inTime((s) => request('POST', '/v1/notifications/events', s, token, { events }));
      if (!ok && (status >= 500 || [401, 403, 404, 408, 429].includes(status))) throw new Error('later');
      const sent = new Set(batch.map((entry) => entry.key));
      await stored('reports', (now) => list(now, reportsMax).filter((entry) => !sent.has(entry?.key)));
    } catch {
      await self.registration.sync?.register('tacet-reports').catch(() => {});
      return;
    }
    if (waiting.length > batch.length) await sendReports();
  }

  // Subscriptions.

  /** The service's key, which may be newer than that of the subscription that has ended. */
  async function currentKey(signal) {
    const response = await request('GET', '/v1/web-push/key', signal);
    const key = response.ok ? (await response.json()).public_key : undefined;
    if (!/^[A-Za-z0-9_-]{87}$/.test(key)) throw new Error('unknown');
    return key;
  }

  /** Whether a subscription was made for a key. Browsers that do not say are taken to be right. */
  function isFor(made, key) {
    const own = made?.options?.applicationServerKey;
    if (!own) return true;
    const text = btoa(String.fromCharCode(...new Uint8Array(own)));
    return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') === key;
  }

  /**
   * Subscribes again and tells the service, with the fetch token of the subscription that has ended. If that fails, the
   * page reports the new subscription at its next start.
   */
  async function changed(event) {
    const old = await subscription();
    const key = await inTime(currentKey);
    let now = event.newSubscription;
    if (now && !isFor(now, key)) {
      await now.unsubscribe();
      now = null;
    }
    now ??= await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys, expirationTime } = now.toJSON();
    const body = { endpoint, keys, ...(expirationTime && { expiration_time: new Date(expirationTime).toISOString() }) };
    const path = '/v1/web-push/subscriptions';
    const response = await inTime((signal) => request('PUT', path, signal, old.fetch_token, body));
    if (!response.ok) return;
    const token = (await response.json()).fetch_token;
    await stored('web_push', (value) => ({ ...value, endpoint, public_key: key, fetch_token: token }));
  }

  self.addEventListener('push', (event) => event.waitUntil(received(event)));
  self.addEventListener('notificationclick', clicked);
  self.addEventListener('notificationclose', closed);
  self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(changed(event).catch(() => {})));
  self.addEventListener('sync', (event) => {
    if (event.tag === 'tacet-reports') event.waitUntil(sendReports());
  });
})();
