// The rows of a schedule: reading them, when they are due on the device's clock, and what is kept of them.

import { isObject, isText, isWhole, parsed, TacetError } from './tacet-support.js';
import { identifierPattern } from './tacet-telemetry.js';

/** The most rows that the service sends are 64. More are read, so that a later service may send more. */
const rowsMax = 1000;
const dataMax = 4096;

/** The document of `GET /v1/schedule`. Throws `refused` for one that cannot be read, or with one row that cannot. */
export function readSchedule(document) {
  const isRead = isObject(document) && typeof document.settings_hint === 'boolean' && Array.isArray(document.rows)
    && document.rows.length <= rowsMax && document.rows.every(isRow);
  if (!isRead) throw new TacetError('refused', { detail: 'The schedule cannot be read.' });
  return { rows: document.rows, settings_hint: document.settings_hint };
}

/** Whether a text has the form of a row's identifier. Other notifications are the app's own. */
export const isOwn = (identifier) => isText(identifier, 80) && identifierPattern.test(identifier);

/** Whether a value is a row that can be shown. */
export function isRow(row) {
  return (
    isObject(row) && isOwn(row.identifier)
    && [row.campaign, row.slot, row.fire_date, row.fire_at, row.category, row.thread_id].every((x) => isText(x, 256))
    && isText(row.rendered_at ?? '', 256) && isText(row.title, 1000) && isText(row.body, 4000) && isLocalTime(row.local_time)
    && isWhole(row.tolerance_seconds, 0, 86_400) && isObject(row.data) && isSmall(row.data)
  );
}

/** Whether a value is a document of `GET /v1/config` that can be handed to a system. */
export function isConfiguration(value) {
  const isNamed = (one, ...names) => isObject(one) && names.every((name) => isText(one[name], 256));
  const isList = (list, isElement) => Array.isArray(list) && list.length <= rowsMax && list.every(isElement);
  const isAction = (action) => isNamed(action, 'id', 'title') && isList(action.options, (one) => isText(one, 64));
  const isChannel = (channel) => isNamed(channel, 'id', 'name', 'importance');
  const isCategory = (category) => isNamed(category, 'id') && isList(category.actions, isAction);
  return (
    isObject(value) && isObject(value.flags) && isList(value.channels, isChannel)
    && isList(value.categories, isCategory)
  );
}

/** Data nested so deep that it cannot be written counts as too large. */
function isSmall(data) {
  try { return JSON.stringify(data).length <= dataMax; } catch { return false; }
}

/** A time such as `2026-11-22T08:00:00` of a day that exists. */
function isLocalTime(text) {
  if (!/^2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$/.test(text)) return false;
  const instant = new Date(`${text}Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

const formats = new Map();

/** Milliseconds that a zone is ahead of UTC at an instant. A zone that is not known counts as UTC. */
export function offsetAt(instant, zone) {
  if (!formats.has(zone)) formats.set(zone, makeFormat(zone));
  const format = formats.get(zone);
  if (!format) return 0;
  const part = {};
  for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
  const wall = Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
  return wall - Math.floor(instant / 1000) * 1000;
}

function makeFormat(timeZone) {
  const number = 'numeric';
  const fields = { year: number, month: number, day: number, hour: number, minute: number, second: number };
  try {
    return new Intl.DateTimeFormat('en-US', { ...fields, timeZone, hourCycle: 'h23', calendar: 'iso8601' });
  } catch {
    return undefined;
  }
}

/**
 * The instant of a local time, in milliseconds since 1970. A time that the clocks skip is later by the gap, and of a
 * time that they show twice it is the first (RFC 5545, section 3.3.5).
 */
export function instantOf(localTime, zone) {
  const wall = Date.parse(`${localTime}Z`);
  const day = 86_400_000;
  const [before, after] = [offsetAt(wall - day, zone), offsetAt(wall + day, zone)];
  const fits = [before, after].find((offset) => offsetAt(wall - offset, zone) === offset);
  return wall - (fits ?? before);
}

/** The instant that an identifier names. */
export function instantOfIdentifier(identifier, zone) {
  const [, , slot, day] = identifierPattern.exec(identifier);
  return instantOf(`${day}T${slot.slice(0, 2)}:${slot.slice(2)}:00`, zone);
}

/**
 * The rows that are still to come, soonest first, with their instant as `at`. Of two rows with one identifier the first
 * counts.
 */
export function comingRows(rows, now, zone) {
  const coming = new Map();
  for (const row of rows) {
    if (!coming.has(row.identifier)) coming.set(row.identifier, { ...row, at: instantOf(row.local_time, zone) });
  }
  return [...coming.values()]
    .filter((row) => row.at > now)
    .sort((one, other) => one.at - other.at || (one.identifier < other.identifier ? -1 : 1));
}

/** A text that changes with what is shown of a row, and when, and where the service has forgotten who has armed it. */
export function markOf(row) {
  const { title, body, category, thread_id, data, tolerance_seconds, at, rendered_at } = row;
  return JSON.stringify([title, body, category, thread_id, sorted(data), tolerance_seconds, at, rendered_at]);
}

/** A value with the members of its objects in one order. Its depth is bounded by the length of a row's data. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.keys(value).sort().map((key) => [key, sorted(value[key])]);
}

/** What a keeper knows at first. `readAt` is the time of the last 200 or 304; null without one. */
export function emptyState() {
  return {
    rows: [], tag: '', readAt: null, hint: false, armed: {}, configuration: null,
    isDenied: false, isInexact: false, isHinted: false,
  };
}

/** The stored state; an empty one for anything else, because stores are damaged and apps change. */
export function readState(text) {
  const state = typeof text === 'string' ? parsed(text) : undefined;
  const empty = emptyState();
  if (!isObject(state) || !isObject(state.armed)) return empty;
  if (!Array.isArray(state.rows) || !state.rows.every(isRow)) return empty;
  const armed = Object.entries(state.armed).filter(([key, entry]) => isOwn(key) && isObject(entry));
  return {
    ...empty,
    rows: state.rows,
    tag: isText(state.tag, 256) ? state.tag : '',
    readAt: isWhole(state.readAt, 0, Number.MAX_SAFE_INTEGER) ? state.readAt : null,
    hint: state.hint === true,
    armed: Object.fromEntries(armed),
    configuration: isConfiguration(state.configuration) ? state.configuration : null,
    isDenied: state.isDenied === true,
    isInexact: state.isInexact === true,
    isHinted: state.isHinted === true,
  };
}
