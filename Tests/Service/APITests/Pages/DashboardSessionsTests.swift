import Testing

@testable import API

@Suite("Sessions of the pages")
struct DashboardSessionsTests {
  private let sessions = DashboardSessions(["old key", "new key"])
  private let start: Int64 = 1_800_000_000

  @Test(
    "a session is opened by every service key and by nothing else",
    arguments: [
      ("old key", true), ("new key", true), ("", false), ("old ke", false), ("old key ", false), ("OLD KEY", false),
    ])
  func keys(_ key: String, opens: Bool) {
    #expect((sessions.open(with: key, now: start) != nil) == opens)
  }

  @Test(
    "a session lasts for its life",
    arguments: [
      (0, true), (1, true), (DashboardSessions.lifeSeconds - 1, true), (DashboardSessions.lifeSeconds, false),
      (-1, false),
    ])
  func life(_ age: Int64, isOpen: Bool) throws {
    let session = try #require(sessions.open(with: "old key", now: start))
    #expect(sessions.accepts(session, now: start + age) == isOpen)
  }

  @Test("a session ends with the key that opened it, and with no other")
  func rotation() throws {
    let old = try #require(sessions.open(with: "old key", now: start))
    let new = try #require(sessions.open(with: "new key", now: start))
    let later = DashboardSessions(["new key", "newest key"])
    #expect(!later.accepts(old, now: start))
    #expect(later.accepts(new, now: start))
    #expect(!DashboardSessions([]).accepts(new, now: start))
  }

  @Test("nothing but what was signed is accepted, changed or cut at any byte")
  func forged() throws {
    let session = try #require(sessions.open(with: "old key", now: start))
    #expect(sessions.accepts(session, now: start))
    for place in session.indices {
      #expect(!sessions.accepts(String(session[..<place]), now: start))
      let other = session[place] == "1" ? "2" : "1"
      #expect(!sessions.accepts(session.replacingCharacters(at: place, with: other), now: start))
    }
    let signature = session.split(separator: ".")[1]
    for end in ["+1800000001", "01800028800", "1800028801", "9223372036854775807", "9223372036854775808", "", "-1"] {
      #expect(!sessions.accepts("\(end).\(signature)", now: start), "\(end)")
    }
    for forged in [session + ".", session + "0", "." + session, session.uppercased() + "g"] {
      #expect(!sessions.accepts(forged, now: start), "\(forged)")
    }
  }
}

extension String {
  fileprivate func replacingCharacters(at place: Index, with text: String) -> String {
    self[..<place] + text + self[index(after: place)...]
  }
}
