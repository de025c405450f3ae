import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Ids of the ledger")
struct PushEventLogIDTests {
  private static func event(_ subject: HostID, _ kind: String = "message", at milliseconds: Int64 = 0) -> PushEvent {
    PushEvent(
      subject: PushSubject(id: subject, kind: kind), origin: .inbox, attempts: 1, enqueuedAt: milliseconds * 1000 + 999,
      claimedAt: 0, content: nil, datedAt: 0, recipients: [])
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
