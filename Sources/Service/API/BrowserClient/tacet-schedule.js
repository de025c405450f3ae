// Keeps a device's local notifications in step with the user's schedule.

import { isWhole, listen } from './tacet-support.js';
import { Debouncer, watchZone } from './tacet-timing.js';
import { comingRows, emptyState, instantOfIdentifier, isOwn, markOf, readState } from './tacet-window.js';

/** Pending notifications of an app that Apple's systems keep. */
const pendingMax = 64;
/** The tolerance of alarms that are not exact. */
const inexactSeconds = 600;
/** Seconds for which a read counts, unless the service's flag `ttlSeconds` says otherwise. */
const timeToLive = 86_400;
const storageKey = 'tacet.schedule';

/**
 * Arms the soonest rows of the schedule as local notifications, cancels what is gone or changed, and reports both.
 *
 * What it knows is the last read, which counts offline for its time to live, and what it has armed. Everything else it
 * asks the scheduler, so a state that is lost costs one more arming.
 */
export class ScheduleKeeper {
  #client;
  #scheduler;
  #platform;
  #options;
  #state;
  #running = Promise.resolve();
  #debouncer;
  #endings = [];

  constructor(client, scheduler, { platform, ...options }) {
    [this.#client, this.#scheduler, this.#platform, this.#options] = [client, scheduler, platform, options];
    this.#debouncer = new Debouncer(platform, () => this.keep().catch((error) => options.onError?.(error)));
  }

  /** Runs once, and again after `resume`, in a changed zone, and when the network is back. */
  start() {
    const { document, window } = this.#platform;
    this.#endings = [
      listen(document, 'visibilitychange', () => document.visibilityState === 'visible' && this.trigger()),
      listen(window, 'online', () => this.#client.flush()),
      watchZone(this.#platform, () => this.trigger()),
    ];
    this.trigger();
  }

  /** Ends all listening. What is armed stays. */
  stop() {
    for (const end of this.#endings.splice(0)) end();
    this.#debouncer.cancel();
  }

  /** Runs now, or at the end of the 30 seconds after the last run's start. Several calls in them are one run. */
  trigger() {
    this.#debouncer.trigger();
  }

  /** One run, after the one that is under way. Rejects with a `TacetError` if the service refuses the read. */
  keep() {
    this.#debouncer.noteStart();
    return this.#inTurn(() => this.#run(true));
  }

  /**
   * Refreshes the stored window in the time that the system gives to an app in the background. It does nothing unless
   * the flag `prefetchRunner` is on, and arms only with the flag `runnerRearm`. Resolves to whether it has read.
   */
  prefetch() {
    return this.#inTurn(async () => {
      const { flags } = (await this.#load()).configuration ?? {};
      if (flags?.prefetchRunner !== 'background-runner') return false;
      await this.#run(flags.runnerRearm === true);
      return true;
    });
  }

  /** Log-out: cancels what is armed, and forgets the schedule and all reports that wait. */
  clear() {
    this.#debouncer.cancel();
    return this.#inTurn(async () => {
      await this.#load();
      const { own } = await this.#pending();
      await this.#cancel(own, this.#state);
      this.#state = emptyState();
      await this.#save();
      await this.#client.forgetReports();
    });
  }

  #inTurn(work) {
    const result = this.#running.then(work);
    this.#running = result.catch(() => {});
    return result;
  }

  async #run(isArming) {
    const state = await this.#load();
    let isOnline = true;
    try {
      const permission = (await this.#scheduler.permission?.()) ?? 'authorized';
      if (permission === 'denied') {
        await this.#refuse(state);
      } else if (permission !== 'not_determined') {
        isOnline = await this.#read(state);
        if (isArming && this.#isFresh(state)) await this.#arm(state);
      }
    } finally {
      await this.#save();
    }
    if (isOnline) await this.#client.flush();
  }

  /** Reads the schedule if it is another one. False without an answer for now. */
  async #read(state) {
    try {
      if (this.#scheduler.prepare) await this.#prepare(state);
      const found = await this.#client.schedule({ unless: { tag: state.tag } });
      if (found) [state.rows, state.tag, state.hint] = [found.rows, found.tag, found.settings_hint];
      state.readAt = this.#platform.now();
      return true;
    } catch (error) {
      if (!error.isTemporary) throw error;
      return false;
    }
  }

  /** Hands channels and categories to the system, and keeps the flags. */
  async #prepare(state) {
    let found = null;
    try {
      found = await this.#client.configuration({ unless: state.configuration });
    } finally {
      // Offline the stored one serves.
      state.configuration = found ?? state.configuration;
      if (state.configuration && (found || !state.isPrepared)) {
        await this.#scheduler.prepare(state.configuration);
        state.isPrepared = true;
      }
    }
  }

  #isFresh(state) {
    if (state.readAt === null) return false;
    const seconds = state.configuration?.flags?.ttlSeconds;
    const now = this.#platform.now();
    // After a clock was set back, the read counts as made now.
    state.readAt = Math.min(state.readAt, now);
    return now - state.readAt <= (isWhole(seconds, 1, 7 * timeToLive) ? seconds : timeToLive) * 1000;
  }

  async #arm(state) {
    const now = this.#platform.now();
    const { own, room } = await this.#pending();
    const coming = await this.#judged(state, comingRows(state.rows, now, this.#platform.zone()));
    const wanted = (this.#scheduler.select?.(coming, now) ?? coming).slice(0, room);
    const isPending = new Set(own);
    const isArmed = (row) => isPending.has(row.identifier) && state.armed[row.identifier]?.mark === markOf(row);
    const fresh = wanted.filter((row) => !isArmed(row));
    const isWanted = new Set(wanted.map((row) => row.identifier));
    // What was due is left to the system, which may be late.
    const gone = own.filter((identifier) => !isWanted.has(identifier) && !(state.armed[identifier]?.at <= now));
    const changed = fresh.map((row) => row.identifier).filter((identifier) => isPending.has(identifier));
    await this.#cancel([...gone, ...changed], state);
    for (const row of fresh) if (!(await this.#armRow(row, state))) return this.#refuse(state);
    state.isDenied = false;
    await this.#report(gone.map((identifier) => ({ code: 'cancelled', identifier })));
    await this.#report(fresh.map(({ identifier, at }) => ({ code: 'armed', identifier, at })));
    const kept = new Set([...own, ...isWanted]);
    for (const identifier of Object.keys(state.armed)) if (!kept.has(identifier)) delete state.armed[identifier];
  }

  async #cancel(identifiers, state) {
    if (identifiers.length > 0) await this.#scheduler.cancel(identifiers);
    for (const identifier of identifiers) delete state.armed[identifier];
  }

  /** False if the system refuses. */
  async #armRow(row, state) {
    try {
      await this.#scheduler.arm(row, row.tolerance_seconds);
    } catch (error) {
      if (error?.code === 'SCHEDULE_DENIED') return false;
      throw error;
    }
    state.armed[row.identifier] = { mark: markOf(row), at: row.at };
    return true;
  }

  /** The rows with the tolerance of this device's alarms. Tells the app once what its user could set. */
  async #judged(state, rows) {
    const isInexact = (await this.#scheduler.exactAlarms?.()) === false;
    if (isInexact && !state.isInexact) await this.#report([{ code: 'EXACT_ALARM_MISSING' }]);
    if ((isInexact || state.hint) && !state.isHinted) {
      this.#options.onSettingsHint?.(() => this.#scheduler.openSettings?.());
    }
    [state.isInexact, state.isHinted] = [isInexact, isInexact || state.hint];
    if (!isInexact) return rows;
    return rows.map((row) => ({ ...row, tolerance_seconds: Math.max(row.tolerance_seconds, inexactSeconds) }));
  }

  async #refuse(state) {
    const { own } = await this.#pending();
    await this.#cancel(own, state);
    if (!state.isDenied) await this.#report([{ code: 'SCHEDULE_DENIED' }]);
    state.isDenied = true;
  }

  async #pending() {
    const all = [...new Set(await this.#scheduler.pending())];
    const own = all.filter(isOwn);
    return { own, room: Math.max(0, pendingMax - (all.length - own.length)) };
  }

  async #report(events) {
    const due = (identifier) => identifier && instantOfIdentifier(identifier, this.#platform.zone());
    const records = events.map(({ code, identifier, at }) => ({ code, identifier, due: at ?? due(identifier) }));
    await this.#client.record(...records);
  }

  async #load() {
    this.#state ??= readState(await this.#platform.storage.get(storageKey).catch(() => undefined));
    return this.#state;
  }

  /** Without its store the keeper goes on with what it knows. */
  async #save() {
    const { isPrepared, ...kept } = this.#state;
    try {
      await this.#platform.storage.set(storageKey, JSON.stringify(kept));
    } catch {
      await this.#report([{ code: 'STORAGE_BUSY' }]);
    }
  }
}
