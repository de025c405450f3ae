import Foundation
import Logging
import Operations
import Postgres
import PushStore
import Reactors
import TestHosts
import TestPostgres
import TestReactors
import Testing

/// A database with an application's tables, and what is guessed of them.
struct WiredHost {
  let server: TestPostgres
  let database: String
  let schema: HostSchema

  init(_ tables: String) async throws {
    server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    database = String(try #require(conninfo.split(separator: "=").last))
    try await server.psql(tables, database: database)
    schema = try await Self.look(conninfo)
  }

  /// What is there now.
  func lookAgain() async throws -> HostSchema { try await Self.look(server.conninfo(database: database)) }

  private static func look(_ conninfo: String) async throws -> HostSchema {
    let found = try await onReactor { reactor in
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let examination = try await DatabaseExamination.begin(conninfo, within: .seconds(30), logger: logger, on: reactor)
      defer { examination.end(on: reactor) }
      return try await examination.hostTables(on: reactor)
    }
    return try HostSchema(tables: found.tables, hidden: found.hidden, blocks: found.blocks)
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a wiring file.
  func run(_ file: String) async throws { try await server.psql(script: file, database: database) }

  /// As much of schema `tacet` as a wiring file needs, with ids of a plan's types. The file is written for what `tacet migrate`
  /// makes; tests of the service run it there.
  func makeContract(for plan: WiringPlan) async throws {
    let (message, conversation, user) = (plan.messageIDs, plan.conversationIDs, plan.userIDs)
    try await sql(
      """
      create schema tacet;
      create function tacet.message_context(message_id \(message))
      returns table (
        conversation_id \(conversation), sender_id \(user), sender_name text, body text, created_at timestamptz,
        read_by \(user)[], prior_read_by \(user)[], prior_touched_at timestamptz
      ) language plpgsql as 'begin end';
      create function tacet.seen_by(conversation_id \(conversation))
      returns table (user_id \(user), last_seen timestamptz, left_at timestamptz) language plpgsql as 'begin end';
      create function tacet.device_tokens(user_id \(user))
      returns table (device_token text, environment text, app text) language plpgsql as 'begin end';
      create function tacet.known_zone(zone text) returns text language sql as 'select zone';
      create function tacet.release_conversation(conversation_id \(conversation), user_id \(user)) returns void
      language sql as 'select';
      create function tacet.grant_service(service regrole) returns void language sql as 'select';
      create function tacet.enqueue_inserted_messages() returns trigger language plpgsql as 'begin return null; end';
      create function tacet.forget_deleted_profiles() returns trigger language plpgsql as 'begin return null; end'
      """)
  }
}

extension WiringAnswers {
  /// The options of `tacet init`.
  init(_ options: [String: String]) {
    self.init()
    for subject in WiringQuestion.Subject.allCases { self[subject] = options["--\(subject.rawValue)"] }
    role = options["--role"]
  }
}
