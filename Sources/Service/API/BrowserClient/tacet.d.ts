// The client of Tacet for web pages, Capacitor and Electron. It needs `fetch` and a function that gives a token.

/** A way to react to a failure. */
export type TacetErrorCode =
  /** No response: the network or the service is unreachable. Try again later. */
  | 'unreachable'
  /** The service is overloaded, or its database is unavailable. Try again later. */
  | 'unavailable'
  /** The token is not valid. Renew it, or ask the user to log in again. */
  | 'unauthorized'
  /** The user is not a participant. */
  | 'forbidden'
  /** The object does not exist. */
  | 'not_found'
  /** The service refuses the request, or sends an answer of another form: a mistake, or incompatible versions. */
  | 'refused'
  /** The app could not provide a token. */
  | 'no_token'
  /** Web Push was to be enabled without a tap of the user. */
  | 'needs_tap';

/** Why a call failed. */
export class TacetError extends Error {
  /** The kind of failure, by the app's possible reaction. */
  readonly code: TacetErrorCode;
  /** The HTTP status; undefined without a response. */
  readonly status?: number;
  /** The service's explanation for a developer, at most 1000 characters. */
  readonly detail?: string;
  /** The wrong member of the request's content. */
  readonly field?: string;
  /** The wait in seconds that the service asks for. */
  readonly retryAfter?: number;
  /** Whether the same call may succeed later. */
  readonly isTemporary: boolean;
}

/** Where reports and the schedule wait. Keys are `tacet.schedule`, `tacet.events`, `tacet.actions`; values are JSON. */
export interface TacetStorage {
  /** The value; undefined without one. */
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
}

/** A store in IndexedDB: the default where it exists. */
export function indexedStorage(indexedDB: IDBFactory): TacetStorage;
/** A store in `localStorage`: the default where IndexedDB is missing. */
export function localStorageStorage(storage: Storage): TacetStorage;
/** A store that ends with the page or process: the default elsewhere, such as in Electron's main process. */
export function memoryStorage(): TacetStorage;

/** What the client takes from its environment. Tests replace members; apps need none of it. */
export interface TacetPlatform {
  fetch(url: string, options?: RequestInit): Promise<Response>;
  /** Milliseconds since 1970. */
  now(): number;
  setTimeout(work: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
  /** The IANA name of the device's time zone. */
  zone(): string;
  randomUUID(): string;
  /** SHA-256. Rejects where the page is no secure context. */
  digest(data: Uint8Array): Promise<ArrayBuffer>;
  /** Pauses between two tries. */
  sleep?(seconds: number): Promise<void>;
  indexedDB?: IDBFactory;
  localStorage?: Storage;
  window?: unknown;
  document?: unknown;
  navigator?: unknown;
}

/** How a client is made. */
export interface TacetOptions {
  /** The service's address, such as `https://push.example.com`. Its path precedes the service's own. */
  origin: string;
  /** The user's current token. It is asked for before each try and is stored nowhere. */
  token(): string | Promise<string>;
  /** The device's token of APNs in hexadecimal digits; `register()` sets it too. It is stored nowhere. */
  deviceToken?: string;
  /** Where reports and the schedule wait. */
  storage?: TacetStorage;
  platform?: Partial<TacetPlatform>;
}

/** A screen that needs no pushes while the user looks at it. */
export interface Surface {
  /** `conversation`, or the back end's name of another surface. */
  kind: string;
  /** The host's id: a UUID, digits, or a text of 1 to 255 bytes. */
  id: string;
}

/** A device that receives pushes of APNs. */
export interface DeviceRegistration {
  /** The device token in hexadecimal digits. */
  token: string;
  environment?: 'production' | 'sandbox';
  /** The app's bundle identifier. */
  app?: string;
  platform?: 'ios' | 'ipados' | 'macos' | 'tvos' | 'visionos' | 'watchos';
  /** The user's language (BCP 47); the device's unless given. */
  locale?: string;
  /** An IANA name; the device's zone unless given. */
  time_zone?: string;
  /** What the system lets the app show. */
  authorization?: 'authorized' | 'provisional' | 'denied' | 'not_determined';
  /** What pushes may say on the device; unchanged unless given. */
  content?: ContentChoice;
  /** The X25519 public key, 32 bytes in base64url, for which pushes are sealed; unchanged unless given. */
  sealing_key?: string;
}

/** What pushes may say: everything, the sender's name, nothing of it, or everything encrypted for the device. */
export type ContentChoice = 'full' | 'sender' | 'none' | 'sealed';

/** What a user wants of pushes. */
export interface Preferences {
  /** What pushes may say on all devices; no choice unless given. */
  content?: ContentChoice | null;
  /** Times of the user's day such as `22:00`. */
  quiet_hours?: { start: string; end: string; time_zone?: string | null; policy?: 'hold' | 'drop' } | null;
  /** Kinds of pushes that are switched off, 64 at most. */
  disabled_kinds?: string[];
  /** 1000 at most. */
  conversations?: {
    conversation_id: string;
    muted?: boolean;
    /** RFC 3339. */
    muted_until?: string | null;
    mentions_only?: boolean;
  }[];
  /** Seconds by kind, after which the server learns of an unread push; 0 for never. */
  unread_after?: { [kind: string]: number };
}

/** A custom member of a notification, or a flag. */
export type JSONValue = string | number | boolean | null | JSONValue[] | { [name: string]: JSONValue };

/** A notification that a device shows by itself. */
export interface ScheduledRow {
  /** `campaign.HHmm.YYYY-MM-DD`. A push of the row has it too, so a device that gets both shows one. */
  identifier: string;
  campaign: string;
  /** The time of the user's day, such as `0800`. */
  slot: string;
  /** The user's day, such as `2026-11-22`. */
  fire_date: string;
  /** When the service would push it, RFC 3339. */
  fire_at: string;
  /** When to show it, on the device's clock and in whatever zone it is then: `2026-11-22T08:00:00`. */
  local_time: string;
  /** Changes where the row is to be armed again; older services do not have it. */
  rendered_at?: string;
  title: string;
  body: string;
  /** One of the configuration's categories. */
  category: string;
  thread_id: string;
  data: { [name: string]: JSONValue };
  /** How late or early it may be shown, in seconds. */
  tolerance_seconds: number;
}

/** What a device is to show. */
export interface Schedule {
  /** Soonest first; 64 at most from the service. */
  rows: ScheduledRow[];
  /** Whether the app should ask its user to allow exact alarms in the system's settings. */
  settings_hint: boolean;
}

/** Feature flags, and what an app registers with its system. */
export interface Configuration {
  flags: { [name: string]: string | number | boolean };
  /** Channels of Android. */
  channels: { id: string; name: string; importance: 'high' | 'default' | 'low' | 'min' }[];
  /** Categories with their buttons in order; `foreground` opens the app. */
  categories: { id: string; actions: { id: string; title: string; options: string[] }[] }[];
}

/** A document and its entity tag, which is empty when unknown. */
export type Tagged<Document> = Document & { tag: string };

/** When a user gets what of a campaign. */
export interface UserSlots {
  enabled: boolean;
  /** 1 to 24, each time and each phase once. `weekdays` are 1 for Monday to 7; all days without them. */
  slots: { slot: string; phase?: string; enabled?: boolean; weekdays?: number[] }[];
}

/** A user's action of a notification. */
export interface ActionReport {
  /** A UUID, made once for each action, so that a repeated report counts once. */
  id: string;
  /** The action's identifier in its category, such as `DID_THIS`. */
  action: string;
  /** The notification's identifier. */
  identifier: string;
  /** RFC 3339; not older than 14 days. */
  at: string;
}

/** The campaign's answer to an action. */
export interface ActionAnswer {
  /** Of a ritual: consecutive days with a completion. */
  streak?: number;
  /** Whether the push comes once more. */
  snoozed?: boolean;
}

/** What happened to a notification, or why a device cannot show it. */
export type EventCode =
  | 'armed' | 'delivered' | 'opened' | 'dismissed' | 'cancelled' | 'FETCH_TIMEOUT' | 'ETAG_NOT_MODIFIED'
  | 'SCHEDULE_DENIED' | 'EXACT_ALARM_MISSING' | 'STORAGE_BUSY' | 'TEMPLATE_MISSING_TOKEN' | 'PERMISSION_DENIED';

/** An event as the service takes it. */
export interface EventReport {
  id: string;
  code: EventCode;
  slotId: string;
  identifier?: string;
  device_token?: string;
  /** When the notification is due, in milliseconds since 1970. */
  whenMs: number;
  attempt: number;
  networkState: 'online' | 'offline' | 'unknown';
  /** Minutes from UTC to the device's time. */
  tzOffset: number;
  appState: 'active' | 'background' | 'killed';
  /** When it happened, in milliseconds since 1970. */
  timestamp: number;
}

/** An event as an app records it. The client adds the circumstances of the device. */
export interface RecordedEvent {
  code: EventCode;
  /** The notification's identifier; none for an event of the device. */
  identifier?: string;
  /** The time of the user's day; the identifier's unless given, and `0000` without one. */
  slot?: string;
  /** A UUID; a new one unless given. An id that waits already is not recorded again. */
  id?: string;
  /** When the notification is due, in milliseconds since 1970; now unless given. */
  due?: number;
  /** Tries so far; 1 unless given. */
  attempt?: number;
}

/**
 * An app's client of the service, for one user at a time.
 *
 * All calls are idempotent and reject with a `TacetError`. A temporary failure is tried three times, half a second and
 * then a second apart or as the service asks, at most ten seconds. A request is given up after 15 seconds.
 */
export class TacetClient {
  /** Makes a client, without a request. Throws a `TypeError` unless the origin is an absolute address of the web. */
  constructor(options: TacetOptions);

  /**
   * The device's token of APNs, in lower case. With it the service knows what this device has armed. Setting another
   * text than 2 to 512 hexadecimal digits throws a `TypeError`.
   */
  get deviceToken(): string | undefined;
  set deviceToken(token: string | undefined);
  /** Reports what the user looks at while the page is visible. */
  readonly presence: PresenceReporter;
  /** The browser's subscription. */
  readonly webPush: WebPush;

  /** Registers a device, or updates it. A time zone that the service does not know is left out. */
  register(device: DeviceRegistration): Promise<void>;
  /** Ends pushes to a device. Call it before the user logs out. */
  removeDevice(token: string): Promise<void>;
  /** What the user wants of pushes. */
  preferences(): Promise<Preferences>;
  /** Replaces all preferences. What is left out has its default. Resolves to what is stored. */
  setPreferences(preferences: Preferences): Promise<Preferences>;

  /** Reports once that the user is looking at a surface now. It is not repeated. */
  look(surface: Surface, options?: { signal?: AbortSignal }): Promise<void>;
  /** Reports that the user has left a surface, by a request that outlives the page. */
  leave(surface: Surface): Promise<void>;
  /**
   * Marks messages of a conversation as read, up to one or all, and clears their pushes on the user's other devices.
   * Without a device token it is this browser's subscription that is not told. `badge` is the number of unread messages
   * in all conversations.
   */
  markRead(
    conversation: string, options?: { upTo?: string; deviceToken?: string },
  ): Promise<{ read: number; badge: number }>;
  /** Reports that a push opened the app, by `push_log_id` of its custom data. */
  opened(pushLogID: string): Promise<void>;
  /** Reports that the user is active. Looks, reads, opened pushes and actions say it as well. */
  active(): Promise<void>;

  /** Reads what this device is to show, for 1 to 7 days and 1 to 64 rows. Null when it is the known schedule. */
  schedule(
    options?: { days?: number; max?: number; deviceToken?: string; unless?: { tag: string } | null },
  ): Promise<Tagged<Schedule> | null>;
  /** Reads flags, channels and categories. Null when they are the known ones. */
  configuration(options?: { unless?: { tag: string } | null }): Promise<Tagged<Configuration> | null>;
  /** When the user gets what of a campaign. */
  slots(campaign: string): Promise<UserSlots>;
  /** Replaces the user's slots in a campaign. Resolves to what the device is to show from now on. */
  choose(slots: UserSlots, campaign: string): Promise<Schedule>;
  /** Asks for a push of what a slot says next, at most once a minute. It is not repeated. */
  deliver(slot: string, campaign: string): Promise<{ queued: boolean; push_id?: string; reason?: string }>;
  /** Keeps the device's local notifications in step with the schedule, from now until `stop()`. */
  armSchedule(scheduler: Scheduler, options?: KeeperOptions): ScheduleKeeper;

  /** Reports an action. Its repetition gets the same answer. */
  reportAction(action: ActionReport): Promise<ActionAnswer>;
  /** Reports an action that is taken now. Null if it could not be sent: it waits in the store for `flush()`. */
  takeAction(action: string, identifier: string): Promise<ActionAnswer | null>;
  /** Reports at most 100 events, in the order in which they happened. */
  reportEvents(events: EventReport[]): Promise<{
    accepted: number;
    duplicates: number;
    /** Events that cannot be used, by their place from 0. */
    rejected: { index: number; field?: string }[];
  }>;
  /**
   * Keeps events in the store, 1000 at most: the oldest give way. `flush()` sends them. Rejects with a `TypeError` for
   * an event that the service would refuse.
   */
  record(...events: RecordedEvent[]): Promise<void>;
  /**
   * Sends what waits in the store, at most 100 events and 64 KiB a request. It ends at a failure that may pass and
   * keeps the rest. A batch that the service refuses is dropped. It never rejects.
   */
  flush(): Promise<void>;
  /** Forgets what waits in the store. */
  forgetReports(): Promise<void>;
  /** The number of events and actions that wait. */
  waitingReports(): Promise<number>;
}

/**
 * Reports the surface on the screen every 20 seconds, and that the user has left when the page is hidden or closed. A
 * refusal ends the reports until the surface is shown again.
 */
export class PresenceReporter {
  private constructor();
  /** Sets the surface that the user looks at; null for none. */
  show(surface: Surface | null): void;
  /** Leaves the surface, and stops to follow the page. */
  stop(): void;
}

/** Whether the browser shows pushes. `unsupported` also in wrapped apps, which have the system's notifications. */
export type WebPushState = 'on' | 'off' | 'denied' | 'unsupported';

/** What a subscription says of its user; the browser's language and zone unless given. */
export interface WebPushOptions {
  locale?: string;
  timeZone?: string;
  /** What pushes may say in this browser; unchanged unless given. */
  content?: ContentChoice;
}

/** The browser's subscription. The page registers the service worker, `tacet-sw.js` or one that imports it. */
export class WebPush {
  private constructor();
  /** The state, without a request. */
  state(): Promise<WebPushState>;
  /**
   * Asks the user and subscribes. Call it first in the handler of a tap. Rejects with `needs_tap` without one, where
   * the browser says so.
   */
  enable(options?: WebPushOptions): Promise<WebPushState>;
  /**
   * Reports a subscription that is there, at each start of the page: endpoints and keys change. A subscription for a
   * former key of the service is replaced. Where there is none, none is made and nobody is asked.
   */
  check(options?: WebPushOptions): Promise<WebPushState>;
  /** Ends the subscription, here and at the service. Call it before the user logs out. */
  disable(): Promise<WebPushState>;
  /** What the service calls this browser where an app has its device token; undefined without a subscription. */
  mark(): Promise<string | undefined>;
}

/** A row with its instant, in milliseconds since 1970: `local_time` in the device's zone. */
export type ComingRow = ScheduledRow & { at: number };

/** A system that shows local notifications. Only the first three members are required. */
export interface Scheduler {
  /** The identifiers of all pending notifications. Those of another form than the client's are left alone. */
  pending(): Promise<string[]>;
  /** Arms a row. An error with the `code` `SCHEDULE_DENIED` says that the user has refused. */
  arm(row: ComingRow, toleranceSeconds: number): Promise<void>;
  /** Cancels pending notifications, at least one. */
  cancel(identifiers: string[]): Promise<void>;
  /** What the user allows; `authorized` unless it is said. */
  permission?(): Promise<'authorized' | 'provisional' | 'denied' | 'not_determined'>;
  /** False if alarms are late or early by minutes. */
  exactAlarms?(): Promise<boolean>;
  /** Opens the system's page where the user allows exact alarms. */
  openSettings?(): unknown;
  /** Gets the configuration once, and when it has changed. */
  prepare?(configuration: Configuration): Promise<void>;
  /** Of the coming rows, soonest first, those that can be armed. */
  select?(rows: ComingRow[], now: number): ComingRow[];
}

/** What an app tells a keeper. */
export interface KeeperOptions {
  /** Called once when exact alarms are missing; `open` opens the page where the user allows them. */
  onSettingsHint?(open: () => void): void;
  /** Called when a run fails for good: the token is not valid, or the scheduler failed. */
  onError?(error: unknown): void;
}

/**
 * Arms the soonest 64 rows of the schedule as local notifications, less the app's own ones, cancels what is gone or
 * changed, and reports both.
 *
 * Without a network it uses the last schedule for 24 hours, or the flag `ttlSeconds`. It runs when the page becomes
 * visible and within a minute of a change of zone. Call `trigger()` when the app resumes, and for a push whose `type`
 * is `schedule_changed`.
 */
export class ScheduleKeeper {
  private constructor();
  /** Begins to listen, and runs. `armSchedule` calls it. */
  start(): void;
  /** Ends all listening. What is armed stays. */
  stop(): void;
  /** Runs now, or at the end of the 30 seconds after the last run's start. Several calls in them are one run. */
  trigger(): void;
  /** One run now. */
  keep(): Promise<void>;
  /**
   * For the system's background fetch: refreshes the schedule if the flag `prefetchRunner` is `background-runner`, and
   * arms it only if `runnerRearm` is true. Resolves to whether it has tried.
   */
  prefetch(): Promise<boolean>;
  /** Log-out: cancels what is armed, and forgets the schedule and all reports that wait. */
  clear(): Promise<void>;
}

/** The plugin `@capacitor/local-notifications` as a scheduler, for Android and iOS. */
export class CapacitorScheduler implements Scheduler {
  /** `capacitor` is the object `Capacitor` of `@capacitor/core`. */
  constructor(plugin: object, capacitor: { getPlatform(): string });
  pending(): Promise<string[]>;
  arm(row: ComingRow, toleranceSeconds?: number): Promise<void>;
  cancel(identifiers: string[]): Promise<void>;
  permission(): Promise<'authorized' | 'denied' | 'not_determined'>;
  exactAlarms(): Promise<boolean>;
  openSettings(): Promise<void>;
  prepare(configuration: Configuration): Promise<void>;
  /**
   * Reports what users do with the client's notifications, and runs the keeper when the app resumes. `app` is the
   * plugin `@capacitor/app`. `onOpen` gets each tap, with its action if it was a button. Resolves to what ends it.
   */
  connect(
    client: TacetClient, keeper: ScheduleKeeper,
    options?: {
      app?: object;
      onOpen?(opened: { identifier: string; action?: string; data: { [name: string]: JSONValue } }): void;
    },
  ): Promise<() => void>;
}

/**
 * Electron's notifications as a scheduler, in the main process. Timers end with the app: it arms the next occurrence of
 * each slot, and all of today and tomorrow if the system starts the app at log-in. A notification that is more than 15
 * minutes late, after the computer slept, is not shown.
 */
export class ElectronScheduler implements Scheduler {
  /** `electron` is the module `electron`. Throws a `TypeError` on Windows without an `appUserModelId`. */
  constructor(
    electron: { app: object; Notification: object; powerMonitor?: object },
    options?: {
      appUserModelId?: string;
      onOpen?(opened: { identifier: string; data: { [name: string]: JSONValue } }): void;
      platform?: object;
    },
  );
  pending(): Promise<string[]>;
  arm(row: ComingRow, toleranceSeconds?: number): Promise<void>;
  cancel(identifiers: string[]): Promise<void>;
  permission(): Promise<'authorized' | 'denied'>;
  select(rows: ComingRow[], now: number): ComingRow[];
  /** Reports what is shown, opened and closed, and runs the keeper after sleep. Returns what ends it. */
  connect(client: TacetClient, keeper: ScheduleKeeper): () => void;
}
