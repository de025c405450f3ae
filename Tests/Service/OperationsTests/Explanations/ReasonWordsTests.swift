import Campaigns
import Foundation
import PushRules
import TemporalReferences
import TestRandomness
import TestRepository
import Testing

@testable import Operations
@testable import PushStore

@Suite("Reasons of campaigns in words")
struct CampaignWordsTests {
  private static func isKnown(_ reason: String) -> Bool {
    !CampaignWords.sentence(reason).hasPrefix("The reason is")
  }

  @Test("every failure of a model, defect of a reply and rule of a layer has a sentence")
  func cases() {
    let reasons =
      LanguageModelError.allCases.map(\.rawValue) + ReplyDefect.allCases.map(\.rawValue)
      + LayerRule.meanings.keys
    #expect(reasons.filter { !Self.isKnown($0) } == [])
    #expect(CampaignWords.sentence("moon_full") == "The reason is moon_full.")
  }

  @Test("so has every doubt about an event", arguments: ReadingDoubt.allCases)
  func doubt(_ doubt: ReadingDoubt) {
    #expect(!CampaignWords.doubt(doubt.rawValue).hasPrefix("of "))
  }

  @Test("so has every reason of a model to write nothing", arguments: EventRefusal.allCases)
  func refusal(_ refusal: EventRefusal) {
    #expect(!CampaignWords.refusal(refusal.rawValue).hasPrefix("it is "))
  }

  @Test("so has everything that the database refuses")
  func database() throws {
    let functions = try ["campaign_audience", "campaign_refusals"].map {
      try Repository.text("db/functions/\($0).sql")
    }.joined()
    var reasons: Set<String> = []
    for name in ["campaign_gate", "campaign_refusals", "push_refusal", "campaign_situations"] {
      let start = try #require(functions.range(of: "function tacet.\(name)(")).upperBound
      let body = functions[start...].prefix(upTo: try #require(functions[start...].range(of: "\n$$;")).lowerBound)
      reasons.formUnion(body.matches(of: /(?:then|return|select [a-z0-9.:]+,) '([a-z_]+)'/).map { String($0.1) })
    }
    #expect(reasons.count == 14, "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }

  @Test("so has everything that the service gives up for")
  func service() throws {
    var reasons: Set<String> = []
    for file in ["CampaignRunner+Deciding", "Draft", "ModelTexts", "OccasionRenderer"] {
      let source = try Repository.text("Sources/Campaigns/Campaigns/\(file).swift")
      let places = /(?:\bfailed\(|refuse\(occasion, |refusal: |\?\? |return |\? |: )"([a-z_]+)"/
      reasons.formUnion(source.matches(of: places).map { String($0.1) })
    }
    // What else the files name.
    reasons.subtract(["model", "push", "template"])
    #expect(reasons.isSuperset(of: ["too_late", "attempts_exhausted", "campaign_unusable", "no_template"]))
    #expect(reasons.count >= 10, "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }

  @Test("so has every refusal of an audience of Tacet's, and every reason for which a slot says nothing")
  func audiences() throws {
    var reasons: Set = ["refused_by_host", "not_wanted"]
    for file in ["lapse", "reminders", "campaign_refusals", "occasions"] {
      let source = try Repository.text("db/functions/\(file).sql")
      reasons.formUnion(source.matches(of: /(?:then|'skip', case when .*? then) '([a-z_]+)'/).map { String($0.1) })
    }
    // What else the files compare and answer.
    reasons.subtract([
      "claim_lost", "cooldown", "failed", "infinity", "nothing_stored", "off", "pushed", "rendered", "scheduled",
      "shown", "unknown_slot",
    ])
    #expect(
      reasons.isSuperset(of: ["asked_by_coach", "already_done", "preferences_unreadable", "permission_denied"]),
      "\(reasons)")
    #expect(reasons.filter { !Self.isKnown($0) } == [])
  }
}

@Suite("All reasons")
struct ReasonMeaningTests {
  @Test("are listed once each under what they are said of, for people and for programs")
  func all() throws {
    let subjects = Dictionary(grouping: ReasonMeaning.all, by: \.subject)
    #expect(subjects.count == 3)
    for (subject, meanings) in subjects {
      #expect(meanings.map(\.reason) == Set(meanings.map(\.reason)).sorted(), "\(subject)")
      #expect(ReasonMeaning.text.components(separatedBy: "\(subject)\n").count == 2)
    }
    let decided = try #require(subjects["A push was held or skipped, because"]).map(\.reason)
    #expect(Set(decided).isSuperset(of: DecisionReason.allCases.map(\.rawValue)))
    let lines = ReasonMeaning.text.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(lines.contains("  muted                           the user has muted the conversation or its sender"))
    let document = try JSONDecoder().decode([String: [[String: String]]].self, from: Data(ReasonMeaning.json))
    #expect(document["reasons"]?.map { $0["reason"] } == ReasonMeaning.all.map(\.reason))
  }
}

@Suite("Reasons in words")
struct RefusalWordsTests {
  @Test("every reason of APNs that the service knows means something, and every fault that is found before it is sent")
  func reasons() throws {
    func words(_ path: String, from start: String, to end: String, _ word: Regex<(Substring, Substring)>) throws
      -> [String]
    {
      let source = try Repository.text(path)
      let rest = source[try #require(source.range(of: start)).upperBound...]
      return rest[..<(try #require(rest.range(of: end)).lowerBound)].matches(of: word).map { String($0.1) }
    }
    let reasons = try words(
      "Sources/Push/Channels/APNs/APNSAnswer.swift", from: "static let table = AnswerTable([", to: "\n  ])",
      /"([A-Za-z ]+)"/)
    let faults = try words(
      "Sources/Push/PushRules/Payloads/PushFields.swift", from: "struct PushRequestError: ", to: "}",
      /\n    case (\w+)/)
    #expect(reasons.count > 25 && faults.count >= 10)
    #expect((reasons + faults).filter { RefusalWords.meanings[$0] == nil } == [])
  }

  @Test(
    "so do the service's own words and bare statuses; what is not known is quoted",
    arguments: [
      ("apns_unreachable", "APNs could not be reached, and has certainly not seen the push (apns_unreachable)"),
      (
        "apns_answer_lost",
        "the connection ended before APNs' answer, so APNs may have delivered the push (apns_answer_lost)"
      ),
      ("app_not_configured", "the app of the device is not configured in the service (app_not_configured)"),
      ("http_502", "APNs answered 502 without a reason (http_502)"),
      ("SomethingNew", "APNs' reason was SomethingNew"),
    ])
  func described(reason: String, text: String) {
    #expect(RefusalWords.described(reason) == text)
  }
}

@Suite("The rule that an explanation names")
struct SuppressionRuleTests {
  /// Ages around every edge of a window of 60 s and a life of an hour.
  private static let ages: [Int64] = [
    -90_000_000, -1, 0, 1, 59_999_999, 60_000_000, 60_000_001, 3_599_999_999, 3_600_000_000, 3_600_000_001,
  ]

  @Test("is the one that decides, in 20,000 random situations")
  func property() {
    var random = SeededGenerator(seed: .random(in: 0...UInt64.max))
    for _ in 0..<20_000 {
      let known = Self.situation(&random)
      let decision = known.policy.decision(for: known.facts)
      #expect(Self.reason(of: decision) == SuppressionRule.first(for: known)?.reason, "\(known), \(random)")
    }
  }

  @Test("takes part comes first, but for what is deleted")
  func participant() {
    var known = HistoryEntry.Situation()
    known.isParticipant = false
    known.hasRead = true
    known.deviceCount = 1
    #expect(SuppressionRule.first(for: known)?.reason == "not_participant")
    known.isDeleted = true
    #expect(SuppressionRule.first(for: known)?.reason == "deleted")
  }

  @Test("what was asked ends with the rule that decided; without one all were asked")
  func asked() {
    var known = HistoryEntry.Situation()
    known.deviceCount = 1
    known.policy = SuppressionPolicy(window: .zero, timeToLive: .microseconds(1))
    #expect(SuppressionRule.asked(of: known).map(\.name) == SuppressionRule.all.filter { !$0.isRare }.map(\.name))
    known.isCapped = true
    #expect(SuppressionRule.asked(of: known).last?.name == "cap group")
    known.isMuted = true
    #expect(SuppressionRule.asked(of: known).last?.name == "muted")
  }

  @Test("every reason of the rules has a clause of its own", arguments: DecisionReason.allCases)
  func clauses(reason: DecisionReason) {
    for known in [HistoryEntry.Situation(), nil] {
      #expect(DecisionWords(kind: "message", known: known).clause(for: reason.rawValue) != nil)
    }
    // Said of an event, or decided of messages that the rules let go.
    guard ![.noRecipients, .folding, .folded].contains(reason) else { return }
    #expect(SuppressionRule.all.contains { $0.reason == reason.rawValue })
  }

  private static func reason(of decision: PushDecision) -> String? {
    switch decision {
    case .send: nil
    case .hold(_, let reason), .skip(let reason): reason.rawValue
    }
  }

  private static func situation(_ random: inout SeededGenerator) -> HistoryEntry.Situation {
    func age() -> Duration { .microseconds(ages.randomElement(using: &random) ?? 0) }
    func isSo(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }
    var known = HistoryEntry.Situation()
    known.messageAge = max(.zero, age())
    known.heldFor = isSo(2) ? .zero : max(.zero, age())
    known.isDeleted = isSo(12)
    known.hasRead = isSo(12)
    known.lastSeenAge = isSo(3) ? nil : age()
    known.sawAfterMessage = isSo(6)
    known.hasLeft = isSo(4)
    known.newestOtherReadAge = isSo(2) ? nil : age()
    known.isOptedOut = isSo(12)
    known.isMuted = isSo(12)
    known.wantsMentionsOnly = isSo(6)
    known.isMentioned = isSo(2)
    known.quietHoursRemaining = isSo(6) ? age() : nil
    known.quietHoursPolicy = isSo(2) ? .hold : .drop
    known.deviceCount = isSo(8) ? 0 : 2
    return known
  }
}
