import FoundationEssentials
import PushRules
import Testing

@testable import Operations
@testable import Settings

@Suite("Findings")
struct DiagnosisTests {
  private static func diagnosis(_ findings: [(String, Judgement.Verdict)], _ found: String = "found") -> Diagnosis {
    Diagnosis(findings: findings.map { CheckFinding($0.0, Judgement($0.1, found)) })
  }

  @Test("are one line each, whatever was found")
  func line() {
    func line(_ judgement: Judgement) -> String { CheckFinding("name", judgement).line }
    #expect(line(.failure("one\n\ttwo", remedy: "mend it")) == "FAIL  name: one two. To do: mend it")
    #expect(line(.ok("found")) == "ok    name: found")
    #expect(line(.warning("did you mean X?", remedy: "do")) == "warn  name: did you mean X? To do: do")
    #expect(line(.skipped("why").named("other")) == "skip  other: why")
  }

  @Test("warn of a shadow, and say nothing where pushes are sent")
  func shadow() {
    #expect(Judgement.shadow(ShadowedKinds.none) == [])
    let finding = Judgement.shadow(.all).first
    #expect(finding?.verdict == .warning)
    #expect(finding?.found.hasPrefix("SHADOW is true: pushes are recorded, none is sent") == true)
  }

  @Test(
    "decide the exit code",
    arguments: [
      ([], 0), ([("a", .ok), ("b", .warning), ("c", .skipped)], 0), ([("a", .ok), ("b", .failure)], 1),
      ([("settings", .failure), ("b", .failure)], 2), ([("settings", .ok), ("b", .failure)], 1),
    ] as [([(String, Judgement.Verdict)], Int32)])
  func exitCode(_ findings: [(String, Judgement.Verdict)], _ code: Int32) {
    #expect(Self.diagnosis(findings).exitCode == code)
  }

  @Test(
    "change when their verdict does, or when one is new and not well",
    arguments: [
      ([("a", .ok)], [("a", .ok)], []), ([("a", .ok)], [("a", .failure)], ["a"]),
      ([("a", .failure)], [("a", .ok)], ["a"]), ([("a", .warning)], [("a", .failure)], ["a"]),
      ([], [("a", .ok)], []), ([], [("a", .warning)], ["a"]), ([("a", .failure)], [], []),
      ([("a", .ok), ("b", .ok)], [("b", .skipped), ("a", .ok)], ["b"]),
    ] as [([(String, Judgement.Verdict)], [(String, Judgement.Verdict)], [String])])
  func changes(_ before: [(String, Judgement.Verdict)], _ after: [(String, Judgement.Verdict)], _ names: [String]) {
    let changes = Self.diagnosis(after, "3 of them").changes(since: Self.diagnosis(before, "2 of them"))
    #expect(changes.map(\.name) == names)
  }

  @Test("are JSON with the words of the verdicts, without what is not there")
  func json() {
    let findings = [
      CheckFinding("a", .ok("well")), CheckFinding("b", .failure("not \"well\"", remedy: "mend")),
    ]
    let diagnosis = Diagnosis(findings: findings)
    #expect(
      String(decoding: diagnosis.json, as: UTF8.self) == #"{"checks":[{"found":"well","name":"a","verdict":"ok"},"#
        + #"{"found":"not \"well\"","name":"b","remedy":"mend","verdict":"fail"}],"exit_code":1}"#)
    #expect(diagnosis.summary == "1 well, 0 to look at, 1 failing, 0 skipped")
  }

  @Test(
    "durations take the unit that fits, on both sides of each edge",
    arguments: [
      (Duration.zero, "0 ms"), (.seconds(-5), "0 ms"), (.milliseconds(999), "999 ms"), (.seconds(1), "1 s"),
      (.milliseconds(119_999), "119 s"), (.seconds(120), "2 min"), (.seconds(7199), "119 min"), (.seconds(7200), "2 h"),
      (.seconds(172_799), "47 h"), (.seconds(172_800), "2 days"),
    ])
  func durations(_ duration: Duration, _ words: String) {
    #expect(FindingWords.duration(duration) == words)
  }

  @Test("counts are of one or many, or at least the bound")
  func counts() {
    let words = (0...4).map { FindingWords.count($0, of: 3, "row", "rows") }
    #expect(words == ["0 rows", "1 row", "2 rows", "at least 3 rows", "at least 3 rows"])
  }

  @Test("a proxy that nobody uses is a warning")
  func proxy() {
    #expect(Judgement.proxies([]) == [])
    let finding = Judgement.proxies(["HTTPS_PROXY"]).first
    #expect(finding?.verdict == .warning && finding?.found.contains("HTTPS_PROXY") == true)
  }

  @Test(
    "a secret's file is for its user and group",
    arguments: [
      (0o600, .ok), (0o640, .ok), (0o644, .warning), (0o602, .warning), (0o100600, .ok), (0o100604, .warning),
    ]
      as [(UInt32, Judgement.Verdict)])
  func files(_ mode: UInt32, _ verdict: Judgement.Verdict) {
    #expect(Judgement.secretFile(.init(key: "TLS_KEY_FILE", path: "/key"), mode: mode).verdict == verdict)
    #expect(Judgement.secretFile(.init(key: "TLS_KEY_FILE", path: "/no such file")) == nil)
  }
}
