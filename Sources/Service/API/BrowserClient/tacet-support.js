// Errors, stores, and what the client takes from its environment.

/** Why a call failed. `code` names the reaction that helps; see `tacet.d.ts`. */
export class TacetError extends Error {
  constructor(code, { status, detail, field, retryAfter } = {}) {
    super(detail ?? code);
    this.name = 'TacetError';
    Object.assign(this, { code, status, detail, field, retryAfter });
  }

  /** Whether the same call may succeed later. */
  get isTemporary() {
    return ['unreachable', 'unavailable', 'no_token'].includes(this.code);
  }

  /** The error of a response. */
  static of(status, content, retryAfter) {
    const codes = { 401: 'unauthorized', 403: 'forbidden', 404: 'not_found', 408: 'unavailable', 429: 'unavailable' };
    const problem = parsed(content);
    const texts = isObject(problem) ? problem : {};
    const string = (value) => (typeof value === 'string' ? value.slice(0, 1000) : undefined);
    return new TacetError(codes[status] ?? (status >= 500 ? 'unavailable' : 'refused'), {
      status,
      detail: string(texts.detail) ?? string(texts.title),
      field: string(texts.field),
      retryAfter: /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
    });
  }
}

/** Whether a value is an object with members, not a list. */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is a text of a bounded length. */
export const isText = (value, max) => typeof value === 'string' && value.length <= max;

/** Whether a value is a whole number in a range. */
export const isWhole = (value, min, max) => Number.isInteger(value) && value >= min && value <= max;

/** A JSON value; undefined for text that is none. */
export function parsed(json) {
  try { return JSON.parse(json); } catch { return undefined; }
}

/** Most bytes of an answer: a schedule of 64 rows has 50 KiB. */
const answerBytesMax = 1024 * 1024;

/** The text of a response, read no further than its bound. */
export async function boundedText(response) {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > answerBytesMax) {
      await reader.cancel();
      throw new TacetError('refused', { detail: 'The answer is too long.' });
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** A request or transaction of IndexedDB as a promise. */
function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Values in IndexedDB, shared with the service worker. */
export function indexedStorage(indexedDB) {
  async function within(mode, work) {
    const opening = indexedDB.open('tacet', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('values');
    const database = await finished(opening);
    try {
      return await finished(work(database.transaction('values', mode).objectStore('values')));
    } finally {
      database.close();
    }
  }
  return {
    get: (key) => within('readonly', (values) => values.get(key)),
    set: (key, value) => within('readwrite', (values) => values.put(value, key)),
    remove: (key) => within('readwrite', (values) => values.delete(key)),
  };
}

/** Texts in `localStorage`. */
export function localStorageStorage(storage) {
  return {
    get: async (key) => storage.getItem(key) ?? undefined,
    set: async (key, value) => storage.setItem(key, value),
    remove: async (key) => storage.removeItem(key),
  };
}

/** Values that end with the page. */
export function memoryStorage() {
  const values = new Map();
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    remove: async (key) => void values.delete(key),
  };
}

function defaultStorage({ indexedDB, localStorage }) {
  if (indexedDB) return indexedStorage(indexedDB);
  return localStorage ? localStorageStorage(localStorage) : memoryStorage();
}

/** Reading `localStorage` throws where the user blocks it. */
function blocked(read) {
  try { return read(); } catch { return undefined; }
}

/** What the client uses of its environment, with replacements by apps and tests. */
export function makePlatform(given = {}) {
  const host = globalThis;
  const platform = {
    fetch: (...request) => host.fetch(...request),
    now: () => Date.now(),
    setTimeout: (work, milliseconds) => host.setTimeout(work, milliseconds),
    clearTimeout: (timer) => host.clearTimeout(timer),
    zone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    randomUUID: () => host.crypto.randomUUID(),
    digest: async (data) => host.crypto.subtle.digest('SHA-256', data),
    indexedDB: blocked(() => host.indexedDB),
    localStorage: blocked(() => host.localStorage),
    window: host.window,
    document: host.document,
    navigator: host.navigator,
    ...given,
  };
  return { storage: defaultStorage(platform), ...platform };
}

/** Calls `listener` for events of a target that may not exist. Returns what ends it. */
export function listen(target, type, listener) {
  target?.addEventListener?.(type, listener);
  return () => target?.removeEventListener?.(type, listener);
}
