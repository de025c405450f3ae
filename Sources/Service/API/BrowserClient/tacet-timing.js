// When a keeper runs.

import { offsetAt } from './tacet-window.js';

/** The service renders a user's rows anew at most once in 30 s. */
const debounceMilliseconds = 30_000;
const zoneCheckMilliseconds = 60_000;

/** Runs work at once, or at the end of the 30 seconds after its last start. Several calls in them are one. */
export class Debouncer {
  #platform;
  #run;
  #startedAt = -Infinity;
  #timer;

  constructor(platform, run) {
    [this.#platform, this.#run] = [platform, run];
  }

  /** Notes a start, also one that nothing has triggered. */
  noteStart() {
    this.#startedAt = this.#platform.now();
  }

  trigger() {
    if (this.#timer !== undefined) return;
    // A clock that was set back must not make the wait longer.
    const wait = Math.min(this.#startedAt + debounceMilliseconds - this.#platform.now(), debounceMilliseconds);
    if (wait <= 0) return this.#run();
    this.#timer = this.#platform.setTimeout(() => {
      this.#timer = undefined;
      this.#run();
    }, wait);
  }

  /** Forgets a run that waits. */
  cancel() {
    this.#platform.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Looks each minute whether the zone or its offset is another one: no event tells. Returns what ends it. */
export function watchZone(platform, changed) {
  const read = () => `${platform.zone()} ${offsetAt(platform.now(), platform.zone())}`;
  let known = read();
  let timer;
  const wait = () => {
    timer = platform.setTimeout(() => {
      const found = read();
      if (found !== known) changed();
      known = found;
      wait();
    }, zoneCheckMilliseconds);
  };
  wait();
  return () => platform.clearTimeout(timer);
}
