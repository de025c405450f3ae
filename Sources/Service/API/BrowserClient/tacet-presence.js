// Presence: what the user looks at, reported while the page is visible.

import { listen } from './tacet-support.js';

/** The service's window is 60 s: with 20 s between reports, two may be lost. */
const intervalMilliseconds = 20_000;

/**
 * Reports the surface on the screen every 20 seconds, and that the user has left when the page is hidden or closed.
 *
 * A failed report is not repeated, because the next one follows. A refusal ends the reports until the surface is shown
 * again or the page becomes visible again.
 */
export class PresenceReporter {
  #client;
  #platform;
  #interval;
  #surface = null;
  #current = null;
  #leaving = Promise.resolve();
  #endings;

  constructor(client, platform, interval = intervalMilliseconds) {
    this.#client = client;
    this.#platform = platform;
    this.#interval = interval;
    this.#endings = [
      listen(platform.document, 'visibilitychange', () => this.#update()),
      listen(platform.window, 'pagehide', () => this.#end()),
      listen(platform.window, 'pageshow', () => this.#update()),
    ];
  }

  /** Sets the surface that the user looks at, `{kind, id}`; null for none. */
  show(surface) {
    const isSame = surface?.kind === this.#surface?.kind && surface?.id === this.#surface?.id;
    if (isSame && (this.#current || !surface)) return;
    this.#end();
    this.#surface = surface ?? null;
    this.#update();
  }

  /** Leaves the surface, and stops to follow the page. */
  stop() {
    for (const end of this.#endings) end();
    this.#end();
    this.#surface = null;
  }

  get #isVisible() {
    return this.#platform.document?.visibilityState !== 'hidden';
  }

  #update() {
    if (!this.#isVisible || !this.#surface) return this.#end();
    if (this.#current) return;
    const view = { surface: this.#surface, abort: new AbortController(), timer: undefined };
    this.#current = view;
    // A report of leaving that is still under way must not overtake the report of looking.
    this.#leaving.then(() => this.#report(view));
  }

  async #report(view) {
    if (this.#current !== view) return;
    try {
      await this.#client.look(view.surface, { signal: view.abort.signal });
    } catch (error) {
      if (!error.isTemporary && error.code !== 'unauthorized') {
        if (this.#current === view) this.#current = null;
        return;
      }
    }
    if (this.#current === view) {
      view.timer = this.#platform.setTimeout(() => this.#report(view), this.#interval);
    }
  }

  #end() {
    const view = this.#current;
    if (!view) return;
    this.#current = null;
    view.abort.abort();
    this.#platform.clearTimeout(view.timer);
    this.#leaving = this.#client.leave(view.surface).catch(() => {});
  }
}
