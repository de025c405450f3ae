import Campaigns
import PushStore
import Settings
import TemporalReferences
import Testing

@testable import Operations

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
