import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Host contract")
struct HostContractTests {
  /// An app with names and shapes of its own.
  private static let app = """
    create table members (member uuid primary key, display text);
    create table rooms (room uuid, member uuid, looked_at timestamptz, gone_at timestamptz);
    create table posts (post uuid primary key, room uuid, author uuid, body text, at timestamptz default now());
    create table reads (post uuid, member uuid);
    create table phones (member uuid, token text, sandbox boolean, dead text, since timestamptz);
    create or replace function tacet.message_context(message_id uuid)
    returns table (
      conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
      prior_read_by uuid[], prior_touched_at timestamptz
    ) language sql stable as $$
      select p.room, p.author, a.display, p.body, p.at,
        array(select r.member from public.reads r where r.post = p.post), null::uuid[], null::timestamptz
      from public.posts p left join public.members a on a.member = p.author where p.post = message_id
    $$;
    create or replace function tacet.seen_by(conversation_id uuid)
    returns table (user_id uuid, last_seen timestamptz, left_at timestamptz) language sql stable as $$
      select r.member, r.looked_at, r.gone_at from public.rooms r where r.room = conversation_id
    $$;
    create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as $$
      select count(*) + 40 from public.posts p where p.author <> user_id
    $$;
    create or replace function tacet.device_tokens(user_id uuid)
    returns table (device_token text, environment text, app text) language sql stable as $$
      select p.token, case when p.sandbox then 'sandbox' end, null::text
      from public.phones p where p.member = user_id and p.dead is null
    $$;
    create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
    returns void language sql volatile as $$
      update public.phones p set dead = reason where p.token = device_token and p.since <= invalid_since
    $$;
    create or replace function tacet.learn_token_environment(
      device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
    )
    returns void language sql volatile as $$
      update public.phones p set sandbox = environment = 'sandbox'
      where p.token = device_token and p.sandbox = (registered_environment = 'sandbox') and p.since <= read_at
    $$;
    drop table push_tokens, messages, conversation_participants, conversations, profiles
    """

  @Test("with every function replaced, claims and records work on the app's own tables")
  func replaced() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(Self.app)
    let (post, room, author, reader) = (HostID.new(), HostID.new(), HostID.new(), HostID.new())
    try await database.sql(
      """
      insert into members values ('\(author)', 'Grace'), ('\(reader)', 'Reader');
      insert into rooms values ('\(room)', '\(author)', null, null), ('\(room)', '\(reader)', now() - interval '5 s', null);
      insert into posts (post, room, author, body) values ('\(post)', '\(room)', '\(author)', 'Hi');
      insert into reads values ('\(post)', '\(reader)');
      insert into phones values ('\(reader)', 'aa', true, null, now())
      """)
    let recipient = try await withStore(database) { store, reactor in
      #expect(try await store.ingest(.message(post), on: reactor) == .pending)
      let events = try await store.claim(ClaimLimits(eventsMax: 1, deliveriesMax: 1, lease: .seconds(60)), on: reactor)
      let event = try #require(events.first)
      #expect(event.message == MessagePush(conversationID: room, senderName: "Grace", text: "Hi"))
      let outcomes = event.recipients.map { RecipientOutcome(userID: $0.userID, decision: .failed) }
      let dead = [DeadTarget(address: "aa", reason: "gone", invalidSince: event.claimedAt)]
      let read = PushTarget(address: "aa", environment: "sandbox")
      let learnt = [LearntEnvironment(target: read, environment: "production", readAt: event.claimedAt)]
      let decided = DecidedEvent(
        event: event, outcomes: outcomes, deadTargets: dead, learntEnvironments: learnt, wokenBy: "webhook")
      try await store.record([decided], on: reactor)
      return try #require(event.recipients.first)
    }
    #expect(recipient.userID == reader)
    #expect(recipient.badge == 41)
    #expect(recipient.targets == [PushTarget(address: "aa", environment: "sandbox")])
    #expect(recipient.situation.hasRead)
    #expect(try #require(recipient.situation.lastSeenAge) >= .seconds(5))
    #expect(try await database.sql("select dead, sandbox from phones") == "gone|f")
  }

  @Test("a time without end in a column that clients write is no time", arguments: ["infinity", "-infinity"])
  func infinite(_ time: String) async throws {
    let chat = try await Chat()
    try await chat.see("'\(time)'")
    try await chat.send("'first'", ["updated_at": "'\(time)'", "read_by": "array['\(chat.reader)']::uuid[]"])
    try await chat.send()
    let situations = try await claim(chat.database).flatMap(\.recipients).map(\.situation)
    #expect(situations.count == 2)
    #expect(situations.allSatisfy { $0.lastSeenAge == nil })
  }
}
