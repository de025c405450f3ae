import Cryptography
import Foundation
import Synchronization
import TestPostgres
import TestProcesses
import TestRepository
import Testing

extension DoctorCase {
  /// A fault of a campaign: with the coach's tables, unless there is no SQL.
  private static func campaign(
    _ what: String, _ sql: String?, _ line: String, part: String = "", remedy: String = "", exitCode: Int = 1
  ) -> DoctorCase {
    DoctorCase(what: what, line: line, part: part, remedy: remedy, exitCode: exitCode) { doctor in
      doctor.settings["PUSH_TRIGGER_ENABLED"] = "true"
      guard let sql else { return }
      let tables = Repository.file("db/examples/coach.sql")
      try await doctor.scene.sql("\\i '\(tables.path)'")
      try await doctor.scene.sql(sql)
    }
  }

  /// What can be wrong with a database that is reached.
  static let database: [DoctorCase] = [
    .sql(
      "the schema is from before the first release", "update tacet.migrations set name = '0030_tacet_features'",
      "FAIL  migrations: the schema is from before the first release", remedy: "reinstall"),
    .sql(
      "a migration of a later program", "insert into tacet.migrations (version, name) values (9999, '9999_later')",
      "warn  migrations:", part: "9999", exitCode: 0),
    .sql(
      "functions of another program", "update tacet.function_files set checksum = '' where name = 'holds'",
      "warn  migrations: functions of another version: holds", remedy: "run tacet migrate", exitCode: 0),
    .sql(
      "a kind that has texts is not watched",
      "insert into tacet.texts (kind, locale, title) values ('gone', 'de', 'x')",
      "warn  texts: gone is not watched, and has texts in de", remedy: "tacet.unlocalise('gone')", exitCode: 0),
    .sql(
      "the database is a copy", "update tacet.settings set database_identity = 'another'",
      "FAIL  database: a copy of another one (another)", remedy: "run tacet adopt"),
    .sql("nothing was migrated", "drop schema tacet cascade", "FAIL  migrations: none was applied"),
    .sql(
      "the trigger on messages is disabled", "alter table messages disable trigger tacet_message_inserted",
      "FAIL  triggers: tacet_message_inserted on public.messages is disabled",
      remedy: "alter table public.messages enable trigger tacet_message_inserted"),
    .sql(
      "the trigger fires in replica sessions only",
      "alter table messages enable replica trigger tacet_message_inserted", "FAIL  triggers:",
      part: "fires in replica sessions only", remedy: "enable trigger"),
    .sql(
      "the trigger on messages is gone", "drop trigger tacet_message_inserted on messages", "FAIL  triggers:",
      part: "no table has the trigger on inserted messages"),
    .sql(
      "the trigger on reads is gone", "drop trigger tacet_message_read on messages", "warn  triggers:",
      part: "reading ends no hold", exitCode: 0),
    .sql(
      "ids of messages may repeat",
      "alter table messages drop constraint messages_pkey, add tenant int default 1, add primary key (tenant, id)",
      "FAIL  triggers: ids of public.messages may repeat, because its primary key is (tenant, id)",
      remedy: "create unique index concurrently on public.messages (id)"),
    .sql(
      "one partition of messages has a trigger and others have none",
      """
      drop table messages;
      create table messages (
        id uuid, conversation_id uuid, from_id uuid, text text, read_by uuid[], created_at timestamptz, updated_at timestamptz,
        primary key (id, created_at)
      ) partition by range (created_at);
      create table messages_1 partition of messages for values from (minvalue) to (now());
      create table messages_2 partition of messages for values from (now()) to (maxvalue);
      create trigger a after insert on messages referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages();
      create trigger b after insert on messages_1 referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages()
      """, "warn  triggers: 1 of 2 partitions of public.messages have no trigger on inserted messages",
      remedy: "db/CONTRACT.md", exitCode: 0),
    .sql(
      "messages can be deleted softly, and Tacet was not told", "alter table messages add deleted_at timestamptz",
      "warn  migrations: functions of another version: badges, contract_messages, reading",
      remedy: "it also fits them to columns of the host", exitCode: 0),
    .sql(
      "dead tokens stay",
      "create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz) "
        + "returns void language sql as 'select -- inert'",
      "warn  host functions: tacet.invalidate_device_token is inert", remedy: "replace it", exitCode: 0),
    .sql(
      "a watched kind has lost its trigger",
      """
      create table public.requests (id uuid primary key);
      create function public.everybody(uuid) returns setof uuid language sql as 'select id from public.profiles';
      select tacet.watch('request_made', 'public.requests', 'public.everybody', 'A request');
      drop trigger tacet_happened_request_made on public.requests
      """, "FAIL  triggers: the watched kind request_made has no trigger", remedy: "tacet.watch"),
    .sql(
      "a type of Live Activities has a field of an unknown type",
      #"update tacet.activity_types set state = state || '{"laps": "integer"}' where name = 'WorkoutActivityAttributes'"#,
      "FAIL  activity types: WorkoutActivityAttributes: the field laps has the unknown type integer",
      remedy: "correct its row of tacet.activity_types"),
    .sql(
      "a watched table of Live Activities has lost a trigger",
      """
      create table public.runs (id uuid primary key, user_id uuid);
      select tacet.watch_activity(
        'WorkoutActivityAttributes', 'public.runs', 'user_id', '{"workoutType": "''Run''", "startTime": "now()"}');
      drop trigger tacet_activity_update_workoutactivityattributes on public.runs
      """, "FAIL  triggers: the watched kind activity:WorkoutActivityAttributes has no trigger",
      remedy: "tacet.watch_activity"),
    .sql(
      "an index of the queue is gone", "drop index tacet.inbox_available_idx",
      "FAIL  indexes: inbox_available_idx is not there"),
    .sql(
      "an index is not valid",
      "update pg_index set indisvalid = false where indexrelid = 'push_tokens_user_idx'::regclass",
      "warn  indexes: push_tokens_user_idx is not valid", remedy: "reindex", exitCode: 0),
    .sql(
      "a claim reads a whole table",
      "alter table tacet.push_log drop constraint push_log_pkey; "
        + "drop index tacet.push_log_subject_idx, tacet.push_log_enqueued_idx, "
        + "tacet.push_log_user_enqueued_idx",
      "FAIL  claim plan: a claim would read the whole table push_log"),
    .sql(
      "a function of the host contract fails",
      """
      create or replace function tacet.seen_by(conversation_id uuid)
      returns table (user_id uuid, last_seen timestamptz, left_at timestamptz)
      language plpgsql as 'begin return query select c.id, null, null from public.nowhere c; end'
      """, "FAIL  host functions: tacet.seen_by fails:", part: "42P01"),
    .sql(
      "a column that a function of the host contract reads was renamed",
      "alter table push_tokens rename column platform to system",
      "FAIL  contract: tacet.register_device fails (SQLSTATE 42703)", part: "platform", remedy: "replace it"),
    DoctorCase(
      what: "the role may read a table and write no row of it", line: "FAIL  rights: row-level security lets role",
      part: "update no row of public.messages", remedy: "create policy tacet_service_update", exitCode: 1
    ) { doctor in
      let role = "reader_\(doctor.scene.database)"
      try await doctor.scene.sql(
        """
        create role \(role) login; select tacet.grant_service('\(role)');
        drop policy "service \(role)" on public.messages;
        grant select, update on public.messages to \(role);
        create policy reader on public.messages for select to \(role) using (true)
        """)
      doctor.settings["DATABASE_URL"] = doctor.conninfo(as: role)
    },
    .sql(
      "events are not claimed",
      """
      insert into tacet.inbox (subject_id, kind, available_at, enqueued_at)
      values (gen_random_uuid(), 'message', now() - interval '5 min', now() - interval '5 min')
      """,
      "FAIL  inbox: 1 row, and the oldest has waited to be decided for 5 min", remedy: "tacet serve"),
    .sql(
      "work is parked",
      "insert into tacet.parked (enqueued_at, attempts, subject_id, kind, reason) values (now(), 6, gen_random_uuid(), 'message', 'x')",
      "warn  parked: 1 row", remedy: "tacet.replay", exitCode: 0),
    .sql(
      "a trigger had to swallow an error",
      "insert into tacet.trigger_failures (sqlstate, message) values ('42P01', 'words-of-a-row')",
      "warn  trigger failures: 1 during the last day with SQLSTATE 42P01", exitCode: 0),
    .sql(
      "a deleted user is not erased",
      """
      insert into tacet.erasures (user_id, asked_at, is_clean)
      select gen_random_uuid(), now() - a.age, a.is_clean
      from (values (interval '61 min', false), ('3 h', true), ('9 min', false)) as a (age, is_clean)
      """,
      "FAIL  erasures: rows of 1 deleted user are still kept, the first deleted 61 min ago", remedy: "tacet serve"),
    .sql(
      "pg_net is not there",
      "update tacet.settings set webhook_url = 'http://127.0.0.1:1/', webhook_secret = 'hunter2-of-the-database'",
      "FAIL  pg_net: webhook_url is set, but there is no net.http_post", remedy: "create extension pg_net"),
    .sql(
      "pg_net's queue does not move",
      """
      update tacet.settings set webhook_url = 'http://127.0.0.1:1/', webhook_secret = 'hunter2-of-the-database';
      create schema net;
      create function net.http_post(url text, body jsonb, headers jsonb) returns bigint language sql as 'select 1::bigint';
      set allow_system_table_mods = on;
      insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      values (4000000000, 'pg_net', 10, 'net'::regnamespace, false, '0.0');
      alter extension pg_net add function net.http_post(text, jsonb, jsonb);
      create table net.http_request_queue (id bigserial primary key, url text);
      insert into net.http_request_queue (url) values ('http://127.0.0.1:1/')
      """, "FAIL  pg_net: 1 request in its queue, which does not move", remedy: "net.worker_restart()"),
    .sql(
      "notifications are switched off", "update tacet.settings set notify_enabled = false", "warn  notifications:",
      exitCode: 0),
    .sql(
      "no device is registered", "delete from push_tokens", "warn  device tokens com.example.app: none", exitCode: 0),
    .sql(
      "devices are of an app that is not in the settings", "update push_tokens set app = 'com.example.other'",
      "warn  device tokens com.example.other: 1 of an app that is not in the settings",
      remedy: "[app com.example.other]", exitCode: 0),
    DoctorCase(what: "the role lacks rights", line: "FAIL  rights: role", part: "lacks", exitCode: 1) { doctor in
      let role = "doctor_\(doctor.scene.database)"
      try await doctor.scene.sql(
        """
        create role \(role) login; select tacet.grant_service('\(role)');
        revoke insert on tacet.inbox from \(role)
        """)
      doctor.settings["DATABASE_URL"] = doctor.conninfo(as: role)
    },
    .campaign(
      "campaigns are on in a host without their tables", nil, "FAIL  campaigns: coach: its functions fail:",
      part: "42P01", remedy: "coach.sql"),
    .campaign(
      "a campaign's definition is none", "update tacet.campaigns set definition = '[]'",
      "FAIL  campaigns: coach: its definition cannot be used"),
    .campaign(
      "users of a campaign wait",
      """
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, run_id, campaign, time_zone)
      values (now(), now() - interval '11 min', current_date, gen_random_uuid(), gen_random_uuid(), 'coach', 'UTC')
      """, "FAIL  campaign work: 1 users have been noted"),
    .campaign(
      "an hour of a campaign is not served",
      """
      insert into tacet.campaign_runs (due_at, campaign, cause, zones)
      values (now() - interval '1 day', 'coach', 'schedule', '{\(ZoneNearNoon.name)}');
      update tacet.campaigns set local_time = (now() at time zone '\(ZoneNearNoon.name)' - interval '11 min')::time
      """, "FAIL  campaign work: 1 hours of zones"),
    .campaign(
      "the server has lost a time zone", "insert into tacet.time_zones values ('gone/zone', 'Gone/Zone')",
      "warn  zones of users: the server no longer knows 1 zone, such as Gone/Zone", exitCode: 0),
    .campaign(
      "the day's ceiling of the language model is reached",
      // Tomorrow's too, for a test at midnight.
      "insert into tacet.model_usage (day, input_tokens) select (now() at time zone 'UTC')::date + n, 1000000 from generate_series(0, 1) n",
      "warn  model usage: the day's ceiling is reached", exitCode: 0),
    DoctorCase(
      what: "a role's sessions fire no triggers", line: "FAIL  triggers: session_replication_role is replica for",
      exitCode: 1
    ) { doctor in
      let (role, database) = ("importer_\(doctor.scene.database)", doctor.scene.database)
      try await doctor.scene.sql(
        "create role \(role); alter role \(role) in database \(database) set session_replication_role = replica")
    },
  ]
}

extension DoctorCase {
  /// What can be wrong with the settings, the way to the database and APNs.
  static let surroundings: [DoctorCase] = [
    .setting(
      "a setting is missing", "WEBHOOK_SECRET", nil, "FAIL  settings: WEBHOOK_SECRET is required and not set",
      exitCode: 2),
    .setting(
      "a setting is mistyped", "APNS_TEAMID", "TEAM000001", "FAIL  settings: APNS_TEAMID",
      part: "did you mean APNS_TEAM_ID", exitCode: 2),
    DoctorCase(
      what: "the key is none", line: "FAIL  settings: APNS_PRIVATE_KEY_FILE", part: "not a P-256 private key",
      exitCode: 2
    ) {
      let text = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(text, to: "none.p8")
    },
    DoctorCase(
      what: "everybody may read the key", line: "warn  file ", part: "can be read by every user", remedy: "chmod o-rw",
      exitCode: 0
    ) {
      let key = try #require($0.scene.settings["APNS_PRIVATE_KEY"])
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(key, to: "open.p8", mode: 0o644)
    },
    .setting(
      "the database is away", "DATABASE_URL", "postgresql://tacet:hunter2@127.0.0.1:1/app", "FAIL  database:",
      part: "Connection refused", remedy: "see whether the server runs"),
    DoctorCase(
      what: "the password is wrong", line: "FAIL  database:", part: "28P01", remedy: "password in DATABASE_URL",
      exitCode: 1
    ) {
      $0.settings["DATABASE_URL"] = $0.scene.postgres.tcpConninfo(database: $0.scene.database, password: "hunter2")
    },
    DoctorCase(
      what: "a pooler lends sessions by transactions, and refuses their settings",
      line: "FAIL  listen: PgBouncer refuses",
      remedy: "DATABASE_POOL_MODE=transaction", exitCode: 1
    ) { $0.settings["DATABASE_URL"] = try await pooler(before: $0, settings: []) },
    DoctorCase(
      what: "a pooler swallows what is listened for", line: "FAIL  listen: notifications do not arrive: a pooler",
      remedy: "DATABASE_POOL_MODE=transaction", exitCode: 1
    ) {
      $0.settings["DATABASE_URL"] = try await pooler(before: $0, settings: ["ignore_startup_parameters = options"])
    },
    .setting(
      "the pool mode is for a pooler that is not there", "DATABASE_POOL_MODE", "transaction",
      "warn  pooler: none was found",
      exitCode: 0),
    DoctorCase(
      what: "APNs does not know the key", line: "FAIL  apns com.example.app/production:", part: "InvalidProviderToken",
      remedy: "APNS_KEY_ID", exitCode: 1
    ) {
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(P256PrivateKey().pem, to: "new.p8")
    },
    .setting(
      "the app is not the team's", "APNS_BUNDLE_ID", "com.example.stranger",
      "FAIL  apns com.example.stranger/production:", part: "refuses the topic", remedy: "APNS_BUNDLE_ID"),
    .setting(
      "APNs' certificate is not trusted", "APNS_CA_FILE", nil, "FAIL  apns com.example.app/production:",
      part: "is not trusted", remedy: "APNS_CA_FILE"),
    .setting(
      "nobody takes connections where APNs should be", "APNS_URL", "https://127.0.0.1:1",
      "FAIL  apns com.example.app/production: nobody takes connections"),
    DoctorCase(
      what: "APNs does not answer", line: "FAIL  apns com.example.app/production:", part: "does not answer in time",
      remedy: "firewall", exitCode: 1
    ) { $0.settings["APNS_URL"] = "https://127.0.0.1:\(try silentPort.get())" },
    DoctorCase(
      what: "the language model cannot be reached", line: "FAIL  language model:", remedy: "LANGUAGE_MODEL_URL",
      exitCode: 1
    ) {
      $0.settings["PUSH_TRIGGER_ENABLED"] = "true"
      $0.settings["LANGUAGE_MODEL_KEY"] = "hunter2"
      $0.settings["LANGUAGE_MODEL_URL"] = "http://127.0.0.1:1"
    },
    .setting(
      "campaigns are on without a language model", "PUSH_TRIGGER_ENABLED", "true",
      "warn  language model: LANGUAGE_MODEL_KEY is not set"),
    .setting(
      "the key set cannot be had", "JWKS_URL", "http://me:hunter2@127.0.0.1:1/keys",
      "FAIL  jwks: the key set cannot be fetched: the host cannot be reached", remedy: "JWKS_URL"),
  ]

  /// A pooler in transaction mode; it stays until the tests end.
  private static func pooler(before doctor: DoctorScene, settings: [String]) async throws -> String {
    let pooler = try await TestPgBouncer.launch(before: doctor.scene.postgres, settings: settings)
    poolers.withLock { $0.append(pooler) }
    return pooler.conninfo(database: doctor.scene.database)
  }

  private static let poolers = Mutex<[TestPgBouncer]>([])

  /// A port whose connections are made by the kernel and answered by nobody.
  private static let silentPort = Result {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | listen(descriptor, 16) | getsockname(descriptor, $0, &length)
      }
    }
    guard code == 0 else { throw TestProcessError(description: "no silent port: errno \(errno)") }
    return UInt16(bigEndian: address.sin_port)
  }
}
