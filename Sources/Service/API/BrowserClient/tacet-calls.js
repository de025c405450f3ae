// Requests to the service, with retries.

import { boundedText, parsed, TacetError } from './tacet-support.js';

const timeoutMilliseconds = 15_000;
/** The longest pause before another try, also if the service asks for more: a user waits. */
const [pauseSeconds, pauseSecondsMax] = [0.5, 10];

/** Sends requests for a user. */
export class ServiceCalls {
  #origin;
  #token;
  #platform;

  constructor(origin, token, platform) {
    const url = new URL(origin);
    if (!['https:', 'http:'].includes(url.protocol)) throw new TypeError('The origin must be an address of the web.');
    this.#origin = url.href.replace(/\/+$/, '');
    [this.#token, this.#platform] = [token, platform];
  }

  /**
   * Sends a request; after a temporary failure again, half a second and then a second apart or as the service asks.
   * Resolves to `{status, text, tag}` of a success or of 304.
   * `options` are `{query, body, tag, tries, keepalive, signal, isPublic}`.
   */
  async send(method, path, options = {}) {
    const { tries = 3, signal } = options;
    let pause = pauseSeconds;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(method, path, options);
      } catch (error) {
        if (!error.isTemporary || attempt >= tries || signal?.aborted) throw error;
        const seconds = Math.min(Math.max(error.retryAfter ?? pause, pause), pauseSecondsMax);
        await this.#sleep(seconds);
        pause *= 2;
      }
    }
  }

  /** The document of a success; `refused` for one of another form, which an incompatible service sends. */
  async document(method, path, isRead, options) {
    const document = parsed((await this.send(method, path, options)).text);
    if (!isRead(document)) throw new TacetError('refused', { detail: 'The answer cannot be read.' });
    return document;
  }

  #sleep(seconds) {
    const { sleep, setTimeout } = this.#platform;
    return sleep ? sleep(seconds) : new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }

  async #headers({ body, tag, isPublic }) {
    const headers = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (tag) headers['if-none-match'] = tag;
    if (isPublic) return headers;
    let token;
    try { token = await this.#token(); } catch {}
    if (typeof token !== 'string' || token === '') throw new TacetError('no_token');
    return { ...headers, authorization: `Bearer ${token}` };
  }

  async #sendOnce(method, path, options) {
    const url = this.#url(path, options.query);
    const headers = await this.#headers(options);
    const abort = new AbortController();
    const end = () => abort.abort();
    const timer = this.#platform.setTimeout(end, timeoutMilliseconds);
    options.signal?.addEventListener('abort', end);
    let response;
    let text;
    try {
      if (options.signal?.aborted) end();
      response = await this.#platform.fetch(url, {
        method, headers, body: options.body === undefined ? undefined : JSON.stringify(options.body),
        keepalive: options.keepalive === true, signal: abort.signal,
        // A redirect could carry the token elsewhere.
        redirect: 'error', credentials: 'omit', cache: 'no-store',
      });
      text = await boundedText(response);
    } catch (error) {
      throw error instanceof TacetError ? error : new TacetError('unreachable');
    } finally {
      this.#platform.clearTimeout(timer);
      options.signal?.removeEventListener('abort', end);
    }
    const { status, headers: fields } = response;
    if (response.ok || status === 304) return { status, text, tag: fields.get('etag') ?? '' };
    throw TacetError.of(status, text, fields.get('retry-after') ?? '');
  }

  /** An address under the origin. A segment of dots would lead out of it. */
  #url(path, query = {}) {
    const segments = path.map((segment) => {
      const text = String(segment);
      if (/^\.{0,2}$/.test(text)) throw new TypeError('An id must not be empty or consist of dots.');
      return encodeURIComponent(text);
    });
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(parameters).toString();
    return `${this.#origin}/v1/${segments.join('/')}${search && '?'}${search}`;
  }
}
