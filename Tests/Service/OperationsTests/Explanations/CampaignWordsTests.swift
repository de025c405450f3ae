import Campaigns
import Foundation
import TemporalReferences
import TestRepository
import Testing

@testable import Operations

@Suite("Reasons of campaigns in words")
struct CampaignWordsTests {
  private static func isKnown(_ reason: String) -> Bool {
    !CampaignWords.sentence(reason).hasPrefix("The reason is")
  }

  @Test("every failure of a model has a sentence", arguments: LanguageModelError.Code.allCases)
  func model(code: LanguageModelError.Code) {
    #expect(Self.isKnown(code.rawValue))
  }

  @Test("so has every defect of a reply", arguments: ReplyDefect.allCases)
  func reply(defect: ReplyDefect) {
    #expect(Self.isKnown(defect.rawValue))
  }

  @Test("so has every rule of a layer", arguments: LayerRule.allCases)
  func layer(rule: LayerRule) {
    #expect(Self.isKnown(rule.rawValue))
  }

  @Test("so has every doubt about an event", arguments: ReadingDoubt.allCases)
  func doubt(_ doubt: ReadingDoubt) {
    #expect(!CampaignWords.doubt(doubt.rawValue).hasPrefix("of "))
  }

  @Test("so has everything that the database refuses")
  func database() throws {
    let functions = try ["campaign_audience", "campaign_decisions"].map {
      try Repository.text("db/functions/\($0).sql")
    }.joined()
    var reasons: Set<String> = []
    for name in ["campaign_gate", "campaign_refusal"] {
      let start = try #require(functions.range(of: "function tacet.\(name)(")).upperBound
      let body = functions[start...].prefix(upTo: try #require(functions[start...].range(of: "\n$$;")).lowerBound)
      reasons.formUnion(body.matches(of: /(?:then|return) '([a-z_]+)'/).map { String($0.1) })
    }
    #expect(reasons.count == 12, "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }

  @Test("so has everything that the service gives up for")
  func service() throws {
    var reasons: Set<String> = []
    for file in ["CampaignRunner", "CheckInComposer", "ModelTexts", "TurnDecider"] {
      let source = try Repository.text("Sources/Campaigns/Campaigns/\(file).swift")
      let places = /(?:\bfailed\(|refused\(\.\w+, |\.(?:skipped|failed), |\?\? )"([a-z_]+)"/
      reasons.formUnion(source.matches(of: places).map { String($0.1) })
    }
    #expect(reasons.isSuperset(of: ["too_late", "attempts_exhausted", "no_template"]))
    #expect(reasons.count >= 10, "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }

  @Test("so has every refusal of an audience of Tacet's, and every reason for which a slot says nothing")
  func audiences() throws {
    var reasons: Set = ["refused_by_host", "not_wanted"]
    for file in ["lapse", "reminders", "slot_rows"] {
      let source = try Repository.text("db/functions/\(file).sql")
      reasons.formUnion(source.matches(of: /(?:then|'skip', case when .*? then) '([a-z_]+)'/).map { String($0.1) })
    }
    // What else the files compare and answer.
    reasons.subtract([
      "sent", "skipped", "infinity", "local", "push", "unknown_slot", "nothing_stored", "cooldown", "cancelled",
    ])
    #expect(
      reasons.isSuperset(of: ["asked_by_coach", "already_done", "preferences_unreadable", "permission_denied"]),
      "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }

  @Test("a reason that is not known is named")
  func unknown() {
    #expect(CampaignWords.sentence("moon_full") == "The reason is moon_full.")
  }
}
