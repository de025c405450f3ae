import Testing

@testable import Settings

@Suite("Settings of events for the host")
struct EventSettingsTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func read(_ more: [String: String]) throws -> EventSettings? { try makeSettings(more).events }

  @Test("without a URL no events are sent; with one there are keys and three days")
  func defaults() throws {
    #expect(try read([:]) == nil)
    #expect(try read(["EVENTS_SECRET": Self.secret]) == nil)
    let events = try #require(
      try read([
        "EVENTS_URL": "https://app.example.com/hooks?token=1", "EVENTS_SECRET": "\(Self.secret) \(Self.secret)",
      ]))
    #expect(events.url.exposed == "https://app.example.com/hooks?token=1")
    #expect(events.signingKeys.map(\.exposed.count) == [24, 24] && events.givesUp == .seconds(259_200))
    #expect(events.certificates == nil)
  }

  @Test(
    "http is for this machine, and what is no address is refused",
    arguments: [
      ("https://host/", true), ("http://127.0.0.1:8080/events", true), ("http://[::1]/", true),
      ("http://localhost/", true), ("http://app.example.com/", false), ("http://127.0.0.1.example.com/", false),
      ("https://host/#a", false), ("https:///events", false), ("ftp://host/", false), ("host", false),
    ])
  func addresses(_ url: String, _ isTaken: Bool) {
    #expect(((try? read(["EVENTS_URL": url, "EVENTS_SECRET": Self.secret])) != nil) == isTaken, "\(url)")
  }

  @Test("a new URL needs a restart")
  func restart() throws {
    let start = try makeSettings(["EVENTS_SECRET": Self.secret])
    let now = try makeSettings(["EVENTS_SECRET": Self.secret, "EVENTS_URL": "https://host/"])
    #expect(now.keysNeedingRestart(since: start) == ["EVENTS_URL"])
  }

  @Test("a URL without a secret stops the start, and so does a time that cannot be meant")
  func missing() {
    for more in [
      ["EVENTS_URL": "https://host/"], ["EVENTS_URL": "https://host/", "EVENTS_SECRET": "short"],
      ["EVENTS_URL": "https://host/", "EVENTS_SECRET": Self.secret, "EVENTS_RETRY_HOURS": "0"],
      ["EVENTS_URL": "https://host/", "EVENTS_SECRET": Self.secret, "EVENTS_RETRY_HOURS": "721"],
    ] {
      #expect(throws: SettingsError.self) { try read(more) }
    }
  }
}
