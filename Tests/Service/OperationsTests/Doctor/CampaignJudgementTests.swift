import Campaigns
@testable import Operations
import PushStore
import Settings
import TemporalReferences
import Testing

@Suite("Judgements about campaigns and the language model")
struct CampaignJudgementTests {
  @Test(
    "hours and users that are left over fail; decisions that failed are to be looked at",
    arguments: [
      (0, 0, 0, [.ok]), (1, 0, 0, [.failure]), (0, 1, 0, [.failure]), (0, 0, 1, [.warning]),
      (1, 1, 1, [.failure, .failure, .warning]),
    ] as [(Int, Int, Int, [CheckFinding.Verdict])])
  func work(_ hours: Int, _ undecided: Int, _ failed: Int, _ verdicts: [CheckFinding.Verdict]) {
    var work = ExaminedCampaignWork()
    (work.unservedHours, work.undecided, work.failed) = (hours, undecided, failed)
    #expect(CampaignWorkCheck.judge(work).map(\.verdict) == verdicts)
  }

  @Test(
    "a machine without time zone data is told",
    arguments: [("/usr/share/zoneinfo", .ok), ("/nonexistent", .failure)]
      as [(String, CheckFinding.Verdict)])
  func timeZones(path: String, verdict: CheckFinding.Verdict) {
    #expect(TimeZoneCheck.judge(ZoneDirectory(path: path)).verdict == verdict)
  }

  @Test("no active campaign is told, where campaigns are switched on")
  func none() {
    #expect(CampaignCheck.judge([]).map(\.verdict) == [.warning])
  }

  @Test(
    "a status says whether the key is taken; a server without a list of models is well",
    arguments: [
      (200, .ok), (404, .ok), (405, .ok), (401, .failure), (403, .failure), (429, .warning), (500, .warning),
      (529, .warning),
    ] as [(Int, CheckFinding.Verdict)])
  func status(_ status: Int, _ verdict: CheckFinding.Verdict) {
    #expect(LanguageModelCheck.judge(status: status).verdict == verdict)
  }

  @Test("an error names no key")
  func error() {
    let finding = LanguageModelCheck.judge(LanguageModelError(.unreachable))
    #expect(finding.verdict == .failure && finding.remedy?.contains("LANGUAGE_MODEL_URL") == true)
  }

  @Test(
    "a time zone that the server has lost is told, first one without a zone of the same rules",
    arguments: [
      ([], .ok, "the server knows"),
      ([LostZone(name: "Asia/Calcutta", standIn: "Asia/Kolkata")], .warning, "1 zone, such as Asia/Calcutta"),
      (
        [LostZone(name: "A", standIn: "B"), LostZone(name: "Gone/Zone", standIn: nil)], .warning,
        "2 zones, such as Gone/Zone, whose users have the times of UTC"
      ),
    ] as [([LostZone], CheckFinding.Verdict, String)])
  func lostZones(_ lost: [LostZone], _ verdict: CheckFinding.Verdict, _ words: String) {
    let finding = ZoneCheck.judge(lost)
    #expect(finding.verdict == verdict && finding.found.contains(words))
  }
}

@Suite("Judgements about Live Activities")
struct LiveActivityJudgementTests {
  @Test("a type without a fault is named, one with a fault fails")
  func types() {
    #expect(ActivityTypeCheck.judge([ExaminedActivityType(name: "Run")]).map(\.line) == ["ok    activity types: Run"])
    let faulty = ActivityTypeCheck.judge([
      ExaminedActivityType(name: "Run"), ExaminedActivityType(name: "Meal", fault: "state needs the field a"),
    ])
    #expect(faulty.map(\.verdict) == [.failure] && faulty[0].found == "Meal: state needs the field a")
  }
}

@Suite("The check of texts in other locales")
struct TextCheckTests {
  @Test("names the locales of each kind, and warns of texts that no event can show")
  func judged() {
    #expect(TextCheck.judge([]).map(\.line) == ["ok    texts: none in other locales"])
    let texts = [ExaminedText(kind: "claimed", locale: "de"), ExaminedText(kind: "claimed", locale: "fr")]
    #expect(TextCheck.judge(texts).map(\.line) == ["ok    texts: claimed (de, fr)"])
    let gone = [
      ExaminedText(kind: "gone", locale: "de", isUnwatched: true),
      ExaminedText(kind: "gone", locale: "fr", isUnwatched: true),
    ]
    #expect(
      TextCheck.judge(texts + gone).map(\.line) == [
        "warn  texts: gone is not watched, and has texts in de, fr. To do: watch it, or take them away: "
          + "tacet.unlocalise('gone')"
      ])
    let missing = [ExaminedText(kind: "claimed", locale: "de", missingColumn: "note")]
    #expect(
      TextCheck.judge(missing).map(\.line) == [
        "warn  texts: claimed in de has {note}, which the kind's own texts do not have. To do: write the text anew with "
          + "tacet.localise; until then nothing stands in that place"
      ])
  }
}
