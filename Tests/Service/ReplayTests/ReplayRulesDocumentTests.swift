import PushRules
import TestRandomness
import Testing

@testable import Replay

@Suite("Rules as a document")
struct ReplayRulesDocumentTests {
  private static let whole = """
    {"window_seconds": 5, "message_ttl_seconds": 600, "fold_window_seconds": 20,
     "quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "Europe/Berlin", "policy": "drop"},
     "mentions": {"break_mute": true, "break_quiet_hours": false},
     "kinds": {"coach": {"window_seconds": 0, "quiet_hours": null}}}
    """

  private static func read(_ text: String) throws(ReplayRulesError) -> ReplayRules {
    try ReplayRules(json: Array(text.utf8))
  }

  @Test("all members are read")
  func whole() throws {
    let rules = try Self.read(Self.whole)
    #expect(rules.general.window == .seconds(5) && rules.general.timeToLive == .seconds(600))
    #expect(rules.general.foldWindow == .seconds(20))
    #expect(rules.general.mentionBreaksMute == true && rules.general.mentionBreaksQuietHours == false)
    guard case .daily(let hours) = rules.general.quietHours else { return #expect(Bool(false)) }
    #expect((hours.from, hours.until, hours.zoneName, hours.policy) == (22 * 60, 7 * 60, "Europe/Berlin", .drop))
    #expect(rules.change(for: "coach").window == .zero && rules.change(for: "coach").quietHours == .off)
    #expect(try Self.read("{}").isUnchanged)
    #expect(try !Self.read(#"{"quiet_hours": null}"#).isUnchanged)
    let held = try Self.read(#"{"quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "UTC"}}"#)
    guard case .daily(let usual) = held.general.quietHours else { return #expect(Bool(false)) }
    #expect(usual.policy == .hold)
  }

  @Test("a document that is cut anywhere is refused")
  func cut() {
    let bytes = Array(Self.whole.utf8)
    for count in 0..<bytes.count {
      #expect(throws: ReplayRulesError.self, "\(count)") { try ReplayRules(json: Array(bytes[..<count])) }
    }
  }

  @Test("a document with a changed byte is read or refused")
  func changed() {
    var generator = SeededGenerator(seed: 27)
    for place in Self.whole.utf8.indices {
      var bytes = Array(Self.whole.utf8)
      bytes[Self.whole.utf8.distance(from: Self.whole.utf8.startIndex, to: place)] = .random(
        in: 0...255, using: &generator)
      _ = try? ReplayRules(json: bytes)
    }
  }

  @Test(
    "a mistake is named",
    arguments: [
      (#"{"windows_seconds": 5}"#, "windows_seconds is unknown; known are window_seconds, message_ttl_seconds"),
      (#"{"kinds": {"coach": {"kinds": {}}}}"#, "kinds.coach.kinds is unknown"),
      (#"{"kinds": {"Coach": {}}}"#, "kinds has a name that cannot be a kind of event: Coach"),
      (#"{"kinds": null}"#, "kinds"), (#"{"kinds": []}"#, "kinds"), (#"{"kinds": {"coach": 5}}"#, "kinds.coach"),
      (#"{"window_seconds": -1}"#, "window_seconds must be a whole number of seconds, 0 to 3600"),
      (#"{"window_seconds": 3601}"#, "window_seconds must be"), (#"{"window_seconds": 1.5}"#, "window_seconds must be"),
      (#"{"window_seconds": "5"}"#, "window_seconds must be"), (#"{"window_seconds": null}"#, "window_seconds must be"),
      (#"{"message_ttl_seconds": 0}"#, "message_ttl_seconds must be"),
      (#"{"message_ttl_seconds": 99999999999999999999}"#, "message_ttl_seconds must be"),
      (#"{"fold_window_seconds": true}"#, "fold_window_seconds must be"),
      (#"{"mentions": {"break": true}}"#, "mentions.break is unknown; known are break_mute, break_quiet_hours"),
      (#"{"mentions": {"break_mute": 1}}"#, "mentions.break_mute"), (#"{"mentions": null}"#, "mentions"),
      (#"{"quiet_hours": {}}"#, "quiet_hours.time_zone is missing"),
      (#"{"quiet_hours": {"from": "24:00", "until": "07:00", "time_zone": "UTC"}}"#, "quiet_hours.from must be a time"),
      (#"{"quiet_hours": {"from": "22:00", "time_zone": "UTC"}}"#, "quiet_hours.until is missing"),
      (
        #"{"quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "../../etc/passwd"}}"#,
        "quiet_hours.time_zone must be a time zone"
      ),
      (
        #"{"quiet_hours": {"from": "22:00", "until": "07:00", "time_zone": "UTC", "policy": "wait"}}"#,
        "quiet_hours.policy must be hold or drop"
      ),
      ("[]", "the rules"), ("5", "the rules"), ("null", "the rules"), ("", "the rules"), ("{} {}", "the rules"),
      (String(repeating: "[", count: 60_000), "the rules"),
      ("{\"" + String(repeating: "x", count: 70_000) + "\": 1}", "the rules have more than 65536 bytes"),
    ])
  func mistakes(_ text: String, _ words: String) {
    #expect {
      try Self.read(text)
    } throws: { error in
      let description = "\(error)"
      return description.hasPrefix(words) && description.utf8.count < 400
    }
  }
}
