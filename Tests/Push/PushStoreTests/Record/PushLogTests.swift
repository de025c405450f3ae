import Foundation
import PushRules
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("Ledger table")
struct PushLogTests {
  @Test("a deleted profile takes its ledger rows and its remaining work along, and nobody else's")
  func deletedProfile() async throws {
    let chat = try await Chat(readers: 2)
    try await log(chat.readers, in: chat.database)
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    try await erase(chat.database)
    let left = chat.readers[1].text
    #expect(try await chat.database.sql("select user_id from push_log") == left)
    #expect(try await chat.database.sql("select user_id from tacet.deliveries") == left)
  }

  @Test("a profile can be deleted although our side refuses, and the refusal is counted")
  func deletedProfileWithDamage() async throws {
    let chat = try await Chat()
    try await chat.database.sql("drop table tacet.erasures cascade; delete from profiles where id = '\(chat.reader)'")
    #expect(try await failures(chat.database) == "1")
  }

  @Test("an ordinary role sees nothing, even with the right to select")
  func ordinaryRole() async throws {
    let chat = try await Chat()
    try await log(chat.readers, in: chat.database)
    let role = try await makeRole(
      in: chat.database, "grant all on tacet.push_log to $role; grant usage on schema tacet to $role")
    #expect(try await chat.database.sql("set role \(role); select count(*) from tacet.push_log") == "0")
    #expect(try await chat.database.sql("set role \(role); update tacet.push_log set opened = true returning 1") == "")
    await #expect(throws: (any Error).self) {
      try await chat.database.sql(
        "set role \(role); insert into tacet.push_log (user_id, push_type, decision) \(Self.anyRow)")
    }
  }

  @Test("with auth.uid() a user sees their own rows, and changes none")
  func ownRows() async throws {
    let database = try await TestDatabase.withHostTables()
    try await database.sql(Self.auth)
    try await database.apply(Repository.install)
    let chat = try await Chat(readers: 2, in: database)
    try await log(chat.readers, in: database)
    let role = try await makeRole(
      in: database, "grant all on tacet.push_log, public.push_log to $role; grant usage on schema auth to $role")
    let login = "set role \(role); set request.uid = '\(chat.readers[1])'"
    let own = chat.readers[1].text
    #expect(try await database.sql("\(login); select user_id from push_log") == own)
    #expect(try await database.sql("\(login); update push_log set opened = true returning 1") == "")
    #expect(try await database.sql("\(login); delete from push_log returning 1") == "")
    #expect(try await database.sql("set role \(role); select count(*) from push_log") == "0")
  }

  private static let anyRow = "values (gen_random_uuid(), 'message', 'sent')"

  private static let auth = """
    create schema auth;
    create function auth.uid() returns uuid language sql stable
      as $$ select nullif(current_setting('request.uid', true), '')::uuid $$
    """

  private func log(_ users: [HostID], in database: TestDatabase) async throws {
    for user in users {
      try await database.sql(
        """
        insert into tacet.push_log (user_id, subject_id, push_type, decision)
        values ('\(user)', gen_random_uuid(), 'message', 'held');
        insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
        values (now(), now(), gen_random_uuid(), '\(user)', 'message', 'held')
        """)
    }
  }
}

@Suite("The ledger in schema tacet, and the view in its place", .uuidsOnly)
struct LedgerViewTests {
  @Test("a reader of the view gets the rows and the columns that the ledger's own policies and privileges give")
  func readers() async throws {
    let database = try await TestDatabase.migrated()
    let dashboard = try await makeRole(in: database)
    try await database.sql(
      """
      grant select on public.push_log to \(dashboard);
      insert into push_log (user_id, push_type, decision) values
        (gen_random_uuid(), 'message', 'sent'), (gen_random_uuid(), 'news', 'sent')
      """)
    let look = "set role \(dashboard); select push_type from push_log"
    await #expect(throws: (any Error).self) { try await database.sql(look) }
    try await database.sql("grant select on tacet.push_log to \(dashboard)")
    #expect(try await database.sql(look) == "")
    try await database.sql(
      "create policy seen on tacet.push_log for select to \(dashboard) using (push_type = 'message')")
    #expect(try await database.sql(look) == "message")
    try await database.apply(Repository.install)
    #expect(try await database.sql(look) == "message")
  }

  @Test("a relation of the host with this name stays as it is, also when Tacet leaves")
  func hostsOwn() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      """
      create table push_log (user_id uuid); insert into push_log values (gen_random_uuid());
      create table profiles (id uuid primary key)
      """)
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("there is no view public.push_log, because public.push_log is the host's"))
    let erased = "select count(*) from tacet.user_columns where relation = 'push_log'::regclass"
    #expect(try await database.sql(erased) == "0")
    try await database.apply(Repository.install)
    try await database.apply(Repository.file("db/uninstall.sql"))
    #expect(try await database.sql("select count(*), to_regnamespace('tacet') from push_log") == "1|")
  }
}

@Suite("Ids of the ledger")
struct PushEventLogIDTests {
  private static func event(_ subject: HostID, _ kind: String = "message", at milliseconds: Int64 = 0) -> PushEvent {
    PushEvent(
      subject: PushSubject(id: subject, kind: kind), origin: .inbox, attempts: 1, enqueuedAt: milliseconds * 1000 + 999,
      claimedAt: 0, content: nil, datedAt: 0, recipients: [], shard: 0)
  }

  @Test("kind, subject and recipient make an id of their own, the same in every attempt")
  func distinct() {
    let (subject, user) = (HostID.new(), HostID.new())
    let ids = [
      Self.event(subject).logID(of: user), Self.event(user).logID(of: subject), Self.event(subject).logID(of: subject),
      Self.event(subject, "other").logID(of: user),
    ]
    #expect(Set(ids).count == 4)
    #expect(Self.event(subject).logID(of: user) == ids[0])
  }

  @Test("it is a UUID of version 8 that begins with the event's millisecond", arguments: [0, 1, 1_700_000_000_123])
  func form(milliseconds: Int64) {
    for _ in 0..<50 {
      let text = Self.event(HostID.new(), at: milliseconds).logID(of: HostID.new()).uuidString.lowercased()
      let hexadecimal = text.filter { $0 != "-" }
      #expect(Int64(hexadecimal.prefix(12), radix: 16) == milliseconds)
      #expect(text.dropFirst(14).first == "8")
      #expect(text.dropFirst(19).first.map("89ab".contains) == true)
    }
  }

  @Test("a row has the id that the push carries, and keeps it through a hold; a row that was there keeps its own")
  func recorded() async throws {
    let chat = try await Chat(readers: 2)
    let message = try await chat.send()
    let event = try #require(try await claim(chat.database).first)
    let old = UUID()
    try await chat.database.sql(
      """
      insert into tacet.push_log (id, user_id, subject_id, push_type, decision)
      values ('\(old)', '\(chat.readers[1])', '\(message)', 'message', 'held')
      """)
    try await chat.record([event]) {
      var outcome = RecipientOutcome(userID: $0, decision: .held, reason: "user_viewing")
      outcome.due = .zero
      outcome.remaining = .held
      return outcome
    }
    let delivery = try await claim(chat.database)
    #expect(delivery.map(\.origin) == [.delivery, .delivery])
    let ids = [event.logID(of: chat.readers[0]), old].map { $0.uuidString.lowercased() }
    #expect(delivery.map { $0.logID(of: chat.readers[0]) }.allSatisfy { $0 == event.logID(of: chat.readers[0]) })
    try await chat.record(delivery) { RecipientOutcome(userID: $0, decision: .sent) }
    let logged = try await chat.database.sql(
      "select string_agg(id || ' ' || decision, ' ' order by user_id = '\(chat.readers[1])') from tacet.push_log")
    #expect(logged == "\(ids[0]) sent \(ids[1]) sent")
  }
}
