// Schedulers for `armSchedule`: Capacitor's local notifications, and Electron while the app runs.

import { isObject } from './tacet-support.js';
import { isOwn, offsetAt } from './tacet-window.js';

/** Importance of a channel, as Android counts. */
const importances = { high: 4, default: 3, low: 2, min: 1 };

/** A whole number below 2³¹ for a text (FNV-1a). Capacitor's notifications have numbers. */
function numberOf(text) {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash & 0x7fffffff;
}

/** The plugin `@capacitor/local-notifications` as a scheduler. */
export class CapacitorScheduler {
  #plugin;
  #capacitor;
  #identifiers = new Map();

  /** `capacitor` is the object `Capacitor` of `@capacitor/core`. */
  constructor(plugin, capacitor) {
    [this.#plugin, this.#capacitor] = [plugin, capacitor];
  }

  async pending() {
    const { notifications } = await this.#plugin.getPending();
    const named = notifications.map(({ id, extra }) => {
      const identifier = isObject(extra) ? extra.tacet_identifier : undefined;
      return [id, isOwn(identifier) ? identifier : `capacitor:${id}`];
    });
    this.#identifiers = new Map(named);
    return [...this.#identifiers.values()];
  }

  async arm(row) {
    const id = this.#freeNumber(row.identifier);
    const channelId = this.#isAndroid ? this.channelId : undefined;
    await this.#plugin.schedule({
      notifications: [{
        id, title: row.title, body: row.body, channelId,
        schedule: { at: new Date(row.at), allowWhileIdle: true },
        actionTypeId: row.category, threadIdentifier: row.thread_id, group: row.thread_id,
        extra: { ...row.data, tacet_identifier: row.identifier },
      }],
    });
    this.#identifiers.set(id, row.identifier);
  }

  async cancel(identifiers) {
    const gone = new Set(identifiers);
    const found = [...this.#identifiers].filter(([, identifier]) => gone.has(identifier)).map(([id]) => ({ id }));
    if (found.length > 0) await this.#plugin.cancel({ notifications: found });
    for (const { id } of found) this.#identifiers.delete(id);
  }

  async permission() {
    const { display } = await this.#plugin.checkPermissions();
    return { granted: 'authorized', denied: 'denied' }[display] ?? 'not_determined';
  }

  /** Android 12 and later may withhold exact alarms. */
  async exactAlarms() {
    if (!this.#isAndroid) return true;
    return (await this.#plugin.checkExactNotificationSetting()).exact_alarm !== 'denied';
  }

  /** Opens the system's page where the user allows exact alarms. */
  async openSettings() {
    if (this.#isAndroid) await this.#plugin.changeExactNotificationSetting();
  }

  /** Makes the channels that are not there: Android keeps what the user has set for one. Registers the categories. */
  async prepare({ flags, channels, categories }) {
    this.channelId = typeof flags.androidChannelId === 'string' ? flags.androidChannelId : undefined;
    if (this.#isAndroid) {
      const known = new Set((await this.#plugin.listChannels()).channels.map((channel) => channel.id));
      for (const { id, name, importance } of channels.filter((channel) => !known.has(channel.id))) {
        await this.#plugin.createChannel({ id, name, importance: importances[importance] ?? importances.default });
      }
    }
    const types = categories.map(({ id, actions }) => ({
      id, actions: actions.map(({ id, title, options }) => ({ id, title, foreground: options.includes('foreground') })),
    }));
    await this.#plugin.registerActionTypes({ types });
  }

  /**
   * Reports what users do with the client's notifications, and runs the keeper when the app resumes. Others are left
   * to the app. `onOpen` gets `{identifier, action, data}` of a tap; `app` is the plugin `@capacitor/app`. Resolves to
   * what ends it.
   */
  async connect(client, keeper, { app, onOpen } = {}) {
    const performed = (event) => this.#performed(event, client, onOpen);
    const listeners = [
      await this.#plugin.addListener('localNotificationActionPerformed', performed),
      await this.#plugin.addListener('localNotificationReceived', ({ extra }) => {
        if (isOwn(extra?.tacet_identifier)) client.record({ code: 'delivered', identifier: extra.tacet_identifier });
      }),
      await app?.addListener('resume', () => keeper.trigger()),
    ];
    return () => listeners.forEach((listener) => listener?.remove());
  }

  async #performed({ actionId, notification }, client, onOpen) {
    const { tacet_identifier: identifier, ...data } = notification?.extra ?? {};
    if (!isOwn(identifier)) return;
    const action = actionId === 'tap' ? undefined : actionId;
    onOpen?.({ identifier, action, data });
    await client.record({ code: 'opened', identifier });
    if (action) await client.takeAction(action, identifier).catch(() => {});
    await client.flush();
  }

  get #isAndroid() {
    return this.#capacitor?.getPlatform?.() === 'android';
  }

  /** A number that no other pending notification has. */
  #freeNumber(identifier) {
    let id = numberOf(identifier);
    while (![undefined, identifier].includes(this.#identifiers.get(id))) id = (id + 1) & 0x7fffffff;
    return id;
  }
}

/** A notification that is later than this, after the computer slept, is worthless. */
const latenessMaxMilliseconds = 15 * 60_000;
const dayMilliseconds = 86_400_000;

/**
 * Electron's notifications as a scheduler, in the main process. Timers end with the app: it arms the next occurrence of
 * each slot, and those of today and tomorrow if the system starts the app at log-in.
 */
export class ElectronScheduler {
  #electron;
  #platform;
  #onOpen;
  #timers = new Map();
  #shown = new Set();

  /**
   * `electron` has `app`, `Notification` and `powerMonitor` of the module `electron`. Windows needs `appUserModelId`.
   * `onOpen` gets `{identifier, data}` of a click.
   */
  constructor(electron, { appUserModelId, onOpen, platform = {} } = {}) {
    this.#electron = electron;
    this.#onOpen = onOpen;
    this.#platform = {
      now: () => Date.now(),
      setTimeout: (work, milliseconds) => setTimeout(work, milliseconds),
      clearTimeout: (timer) => clearTimeout(timer),
      zone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
      system: globalThis.process?.platform,
      ...platform,
    };
    if (this.#platform.system !== 'win32') return;
    if (!appUserModelId) throw new TypeError('Windows shows no notification without an appUserModelId.');
    electron.app.setAppUserModelId(appUserModelId);
  }

  async permission() {
    return this.#electron.Notification.isSupported() ? 'authorized' : 'denied';
  }

  async pending() {
    return [...this.#timers.keys()];
  }

  /** Of the coming rows, soonest first, those that this process will live to show. */
  select(rows, now) {
    if (this.#electron.app.getLoginItemSettings().openAtLogin) {
      const zone = this.#platform.zone();
      const day = (instant) => Math.floor((instant + offsetAt(instant, zone)) / dayMilliseconds);
      return rows.filter((row) => day(row.at) <= day(now) + 1);
    }
    const known = new Set();
    const isNext = ({ campaign, slot }) => !known.has(`${campaign}.${slot}`) && known.add(`${campaign}.${slot}`);
    return rows.filter(isNext);
  }

  async arm(row) {
    await this.cancel([row.identifier]);
    const timer = this.#platform.setTimeout(() => this.#fire(row), row.at - this.#platform.now());
    this.#timers.set(row.identifier, timer);
  }

  async cancel(identifiers) {
    for (const identifier of identifiers) {
      this.#platform.clearTimeout(this.#timers.get(identifier));
      this.#timers.delete(identifier);
    }
  }

  /** Reports what is shown, opened and closed, and runs the keeper after sleep and for the slot's next occurrence. */
  connect(client, keeper) {
    this.onEvent = (code, identifier) => client.record({ code, identifier }).then(() => client.flush());
    this.onShown = () => keeper.trigger();
    const resume = () => keeper.trigger();
    this.#electron.powerMonitor?.on('resume', resume);
    return () => {
      this.onEvent = this.onShown = undefined;
      this.#electron.powerMonitor?.removeListener('resume', resume);
    };
  }

  #fire(row) {
    this.#timers.delete(row.identifier);
    if (this.#platform.now() - row.at <= latenessMaxMilliseconds) this.#show(row);
    this.onShown?.();
  }

  #show({ identifier, title, body, data }) {
    const shown = new this.#electron.Notification({ title, body });
    // Its listeners end with it, so it is kept until the user has dealt with it.
    this.#shown.add(shown);
    const end = (code) => {
      if (this.#shown.delete(shown)) this.onEvent?.(code, identifier);
    };
    shown.on('click', () => {
      end('opened');
      this.#onOpen?.({ identifier, data });
    });
    shown.on('close', () => end('dismissed'));
    shown.show();
    this.onEvent?.('delivered', identifier);
  }
}
