import Campaigns
import TemporalReferences
import Testing

@testable import HTTPTransfers
@testable import Operations
@testable import PushStore

@Suite("Judgements about campaigns, Live Activities and texts")
struct CampaignJudgementTests {
  @Test(
    "hours and users that are left over fail; decisions that failed are to be looked at",
    arguments: [
      (0, 0, 0, [.ok]), (1, 0, 0, [.failure]), (0, 1, 0, [.failure]), (0, 0, 1, [.warning]),
      (1, 1, 1, [.failure, .failure, .warning]),
    ] as [(Int, Int, Int, [Judgement.Verdict])])
  func work(_ hours: Int, _ undecided: Int, _ failed: Int, _ verdicts: [Judgement.Verdict]) {
    var work = ExaminedCampaignWork()
    (work.unservedHours, work.undecided, work.failed) = (hours, undecided, failed)
    #expect(Judgement.campaignWork(work).map(\.verdict) == verdicts)
  }

  @Test("no active campaign is told, where campaigns are switched on, and a machine without time zone data")
  func missing() {
    #expect(Judgement.campaigns([]).map(\.verdict) == [.warning])
    #expect(Judgement.timeZones(ZoneDirectory(path: "/usr/share/zoneinfo")).verdict == .ok)
    #expect(Judgement.timeZones(ZoneDirectory(path: "/nonexistent")).verdict == .failure)
  }

  @Test(
    "a status says whether the key is taken; a server without a list of models is well",
    arguments: [
      (200, .ok), (404, .ok), (405, .ok), (401, .failure), (403, .failure), (429, .warning), (500, .warning),
      (529, .warning),
    ] as [(Int, Judgement.Verdict)])
  func status(_ status: Int, _ verdict: Judgement.Verdict) {
    #expect(Judgement.languageModel(status: status).verdict == verdict)
  }

  @Test("a model that cannot be reached fails, with what to do")
  func unreachable() {
    let judgement = Judgement.languageModel(HTTPTransferError(.unreachable))
    #expect(judgement.verdict == .failure && judgement.remedy?.contains("LANGUAGE_MODEL_URL") == true)
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
    ] as [([LostZone], Judgement.Verdict, String)])
  func lostZones(_ lost: [LostZone], _ verdict: Judgement.Verdict, _ words: String) {
    let judgement = Judgement.zones(lost: lost)
    #expect(judgement.verdict == verdict && judgement.found.contains(words))
  }

  @Test("a type of Live Activities without a fault is named, one with a fault fails")
  func types() {
    let run = ExaminedActivityType(name: "Run")
    #expect(Judgement.activityTypes([run]) == [.ok("Run")])
    let faulty = Judgement.activityTypes([run, .init(name: "Meal", fault: "state needs the field a")])
    #expect(faulty.map(\.verdict) == [.failure] && faulty[0].found == "Meal: state needs the field a")
  }

  @Test("texts in other locales are named by kind, and those that no event can show are warned of")
  func texts() {
    #expect(Judgement.texts([]) == [.ok("none in other locales")])
    let texts = [ExaminedText(kind: "claimed", locale: "de"), ExaminedText(kind: "claimed", locale: "fr")]
    #expect(Judgement.texts(texts) == [.ok("claimed (de, fr)")])
    let gone = ["de", "fr"].map { ExaminedText(kind: "gone", locale: $0, isUnwatched: true) }
    #expect(
      Judgement.texts(texts + gone) == [
        .warning(
          "gone is not watched, and has texts in de, fr",
          remedy: "watch it, or take them away: tacet.unlocalise('gone')")
      ])
    #expect(
      Judgement.texts([ExaminedText(kind: "claimed", locale: "de", missingColumn: "note")]) == [
        .warning(
          "claimed in de has {note}, which the kind's own texts do not have",
          remedy: "write the text anew with tacet.localise; until then nothing stands in that place")
      ])
  }
}
