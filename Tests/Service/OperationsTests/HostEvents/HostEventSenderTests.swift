import PushRules
import TestIDs
import TestReceivers
import Testing

@testable import Operations

@Suite("Sending events to the host", .timeLimit(.minutes(5)))
struct HostEventSenderTests {
  private static let none = "not exists (select from tacet.host_events where state = 'waiting')"
  private static let types = ["push.sent", "push.skipped", "push.failed"]

  @Test("an event comes with ids, names and times, and with the signature of its content")
  func whole() async throws {
    try await SenderRig.run { rig in
      let user = HostID.new()
      try await rig.add(["push.skipped"], of: user)
      try await rig.sending { try await rig.until(Self.none) }
      let arrival = try #require(rig.receiver.arrivals.first)
      #expect(rig.receiver.arrivals.count == 1 && rig.receiver.strangers == 0)
      let pattern =
        #"{"data":{"reason":"why","user_id":"USER"},"timestamp":"....-..-..T..:..:..\....Z","type":"push\.skipped"}"#
      let regex = try Regex(
        pattern.replacing("{", with: #"\{"#).replacing("}", with: #"\}"#).replacing("USER", with: user.text))
      #expect(arrival.content.wholeMatch(of: regex) != nil, "\(arrival.content)")
    }
  }

  @Test("a user's events come one after the other, those of others beside them, from several processes")
  func ordered() async throws {
    try await SenderRig.run { rig in
      let users = (0..<12).map { _ in HostID.new() }
      for user in users { try await rig.add(Self.types, of: user) }
      rig.receiver.hold()
      try await rig.sending(3, places: 2) {
        try await rig.until("count(*) = 6 from tacet.host_events where is_claimed")
        rig.receiver.release()
        try await rig.until(Self.none)
      }
      for user in users { #expect(rig.taken(of: user) == Self.types) }
      #expect(rig.receiver.arrivals.count == 36)
      #expect(rig.receiver.most.ofAUser == 1 && rig.receiver.most.ofAll <= 6)
    }
  }

  @Test("a host that is down for an hour gets every event afterwards, in order, under the same ids")
  func down() async throws {
    try await SenderRig.run { rig in
      let users = (0..<4).map { _ in HostID.new() }
      for user in users { try await rig.add(Self.types, of: user) }
      rig.receiver.answer(503)
      try await rig.sending(givesUp: .seconds(86_400)) {
        for tries in 4...6 {
          try await rig.until("sum(attempts) >= \(tries) from tacet.host_events where not is_claimed")
          try await rig.sql("update tacet.host_events set first_tried_at = first_tried_at - interval '20 min'")
          try await rig.pass()
        }
      }
      #expect(rig.receiver.taken.isEmpty && !rig.receiver.arrivals.isEmpty)
      rig.receiver.answer(200)
      // Other processes know nothing of the failures.
      try await rig.pass()
      try await rig.sending(2, givesUp: .seconds(86_400)) { try await rig.until(Self.none) }
      for user in users { #expect(rig.taken(of: user) == Self.types) }
      let ids = Dictionary(grouping: rig.receiver.arrivals, by: \.id)
      #expect(ids.count == 12 && ids.values.contains { $0.count > 1 })
    }
  }

  @Test("a host that is not there at all is no fault of the events")
  func away() async throws {
    try await SenderRig.run { rig in
      let user = HostID.new()
      try await rig.add(["push.sent"], of: user)
      try await rig.sending(to: "http://127.0.0.1:1/events") {
        try await rig.until(
          "exists (select from tacet.host_events where attempts = 1 and not is_claimed and error is not null)")
      }
      try await rig.pass()
      try await rig.sending { try await rig.until(Self.none) }
      #expect(rig.taken(of: user) == ["push.sent"])
    }
  }

  @Test("a host that answers nothing in time delays its own user alone")
  func slow() async throws {
    try await SenderRig.run { rig in
      let users = [HostID.new(), HostID.new()]
      rig.receiver.hold()
      try await rig.add(["push.sent"], of: users[0])
      try await rig.sending(limit: .milliseconds(1500)) {
        try await rig.until(
          "exists (select from tacet.host_events where not is_claimed and error like '%in time%' and due_at > now())")
        rig.receiver.release()
        try await rig.add(["push.sent"], of: users[1])
        try await rig.until("not exists (select from tacet.host_events where user_id = '\(users[1])')")
      }
      #expect(rig.taken(of: users[1]) == ["push.sent"])
    }
  }

  @Test("Retry-After is kept, and a redirect is not followed")
  func asked() async throws {
    try await SenderRig.run { rig in
      try await rig.add(["push.sent"], of: HostID.new())
      rig.receiver.answer(429, retryAfter: "7200")
      try await rig.sending(givesUp: .seconds(86_400)) {
        try await rig.until("exists (select from tacet.host_events where attempts = 1 and not is_claimed)")
      }
      #expect(try await rig.sql("select status, due_at > now() + interval '119 min' from tacet.host_events") == "429|t")
      rig.receiver.answer(307)
      try await rig.pass()
      try await rig.sending(givesUp: .seconds(86_400)) {
        try await rig.until("exists (select from tacet.host_events where attempts = 2 and not is_claimed)")
      }
      #expect(try await rig.sql("select status from tacet.host_events") == "307")
      #expect(rig.receiver.arrivals.count == 2)
    }
  }

  @Test("an event that is never taken is dead after its time, and the user's next one comes")
  func dead() async throws {
    try await SenderRig.run { rig in
      let user = HostID.new()
      try await rig.add(["push.sent"], of: user)
      rig.receiver.answer(400)
      try await rig.sending(givesUp: .seconds(100)) {
        try await rig.until("exists (select from tacet.host_events where state = 'dead')")
        rig.receiver.answer(200)
        try await rig.add(["push.failed"], of: user)
        try await rig.until(Self.none)
        #expect(rig.taken(of: user) == ["push.failed"])
        try await rig.sql("select tacet.retry_host_events()")
        try await rig.until("not exists (select from tacet.host_events)")
      }
      #expect(rig.taken(of: user) == ["push.failed", "push.sent"])
    }
  }
}
