internal import Postgres

/// The SQL file that wires Tacet to a host: one transaction, and behind it the indexes. It may run again.
///
/// Aliases are the same everywhere: `m` a message, `p` a participant, `u` a user, `d` a device, `s` a user's presence.
package struct WiringFile {
  let plan: WiringPlan

  package init(_ plan: WiringPlan) { self.plan = plan }

  package var text: String {
    ([head, check, ownTables] + messageFunctions + participantFunctions + barrierFunctions + deviceFunctions + [
      triggers, rights, "commit;", indexes, tail,
    ])
    .filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  private var head: String {
    """
    -- Wires Tacet to the tables of this application. Written by tacet init; read it before you run it, and change what it got
    -- wrong. It may run again. What the functions return: db/CONTRACT.md.
    --
    \(WiringSummary(plan).lines.map { "--   \($0.onOneLine)" }.joined(separator: "\n"))

    begin;
    set local lock_timeout = '2s';
    set local client_min_messages = warning;
    """
  }

  private var check: String {
    """
    do $$
    begin
      if to_regprocedure('tacet.message_context(\(plan.messageIDs))') is null
        or to_regprocedure('tacet.seen_by(\(plan.conversationIDs))') is null
        or to_regprocedure('tacet.device_tokens(\(plan.userIDs))') is null then
        raise exception 'run first: tacet migrate \(plan.migrateOptions.joined(separator: " "))';
      end if;
    end
    $$;
    """
  }

  private var ownTables: String {
    [
      """
      -- Tables of this wiring. They are beside yours, because yours have no place for what apps report to Tacet, and outside
      -- schema public, because interfaces such as PostgREST show that to every client.
      create schema if not exists tacet_host;
      """, presenceTable, isOwnDevices ? devicesTable : "",
    ].filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var presenceTable: String {
    """
    -- When each user last looked at a conversation and left it, as the app reports to Tacet.
    create table if not exists tacet_host.presence (
      conversation_id \(plan.conversationIDs) not null,
      user_id \(plan.userIDs) not null\(userKey),
      last_seen timestamptz,
      left_at timestamptz,
      constraint presence_pkey primary key (conversation_id, user_id)
    ) with (fillfactor = 80);
    create index if not exists presence_user_id_idx on tacet_host.presence (user_id);
    """
  }

  private var triggers: String {
    let messages = plan.messages
    let partitions =
      messages.table.isPartitioned
      ? "-- It does not fire for inserts that name a partition; make it on each partition if you have such.\n" : ""
    return """
      -- Each inserted message becomes a push.
      \(partitions)create or replace trigger tacet_message_inserted
      after insert on \(messages.table.sql)
      referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages(\(triggerArguments));
      """ + erasureTrigger
  }

  /// What the trigger may read besides the id, where the columns have its names.
  private var triggerArguments: String {
    guard plan.messages.conversation.name == "conversation_id" else { return "" }
    let created = plan.messages.created
    return created?.name == "created_at" && created?.type == "timestamptz"
      ? "'conversation_id', 'created_at'" : "'conversation_id'"
  }

  private var erasureTrigger: String {
    guard let users = plan.users, users.table.isTable, users.id.name == "id" else { return "" }
    return """


      -- What Tacet knows of a deleted user goes too.
      create or replace trigger tacet_profile_deleted
      after delete on \(users.table.sql)
      referencing old table as deleted
      for each statement execute function tacet.forget_deleted_profiles();
      """
  }

  private var tail: String {
    """
    -- Now run tacet doctor. It plays a message through these functions and undoes it.
    """
  }

  var isOwnDevices: Bool { plan.devices == .own }

  /// Rows of the wiring go with their user, where that is in a table with a key.
  var userKey: String {
    guard let users = plan.users, users.table.isTable, users.table.isUnique([users.id.name]) else { return "" }
    return " references \(users.table.sql) (\(users.id.name.quotedIdentifier)) on delete cascade"
  }

  /// A function of the contract.
  func function(
    _ signature: String, returns result: String, _ language: String = "sql stable", comment: String, _ body: String
  ) -> String {
    """
    \(comment.split(separator: "\n").map { "-- \($0.description.onOneLine)" }.joined(separator: "\n"))
    create or replace function tacet.\(signature)
    returns \(result)
    language \(language)
    as \(body.dollarQuoted);
    """
  }

  /// Conditions on a row, each on a line after `where ...`.
  func and(_ conditions: [String], indent: Int = 2) -> String {
    conditions.map { "\n\(String(repeating: " ", count: indent))and \($0)" }.joined()
  }
}
