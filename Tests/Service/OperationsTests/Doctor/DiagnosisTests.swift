import FoundationEssentials
@testable import Operations
import PushRules
import Testing

@Suite("Findings")
struct CheckFindingTests {
  @Test("are one line each, whatever was found")
  func line() {
    let finding = CheckFinding("name", .failure, "one\n\ttwo", remedy: "mend it")
    #expect(finding.line == "FAIL  name: one two. To do: mend it")
    #expect(CheckFinding("name", .ok, "found").line == "ok    name: found")
    #expect(
      CheckFinding("name", .warning, "did you mean X?", remedy: "do").line == "warn  name: did you mean X? To do: do")
  }

  @Test("warn of a shadow, and say nothing where pushes are sent")
  func shadow() {
    #expect(ShadowCheck.judge(.none) == nil)
    let finding = ShadowCheck.judge(.all)
    #expect(finding?.verdict == .warning)
    #expect(finding?.line.hasPrefix("warn  shadow: SHADOW is true: pushes are recorded, none is sent.") == true)
  }

  @Test(
    "decide the exit code",
    arguments: [
      ([], 0), ([("a", .ok), ("b", .warning), ("c", .skipped)], 0), ([("a", .ok), ("b", .failure)], 1),
      ([("settings", .failure), ("b", .failure)], 2), ([("settings", .ok), ("b", .failure)], 1),
    ] as [([(String, CheckFinding.Verdict)], Int32)])
  func exitCode(_ findings: [(String, CheckFinding.Verdict)], _ code: Int32) {
    var diagnosis = Diagnosis()
    for (name, verdict) in findings { diagnosis.add(CheckFinding(name, verdict, "found")) }
    #expect(diagnosis.exitCode == code)
  }

  @Test(
    "change when their verdict does, or when one is new and not well",
    arguments: [
      ([("a", .ok)], [("a", .ok)], []), ([("a", .ok)], [("a", .failure)], ["a"]),
      ([("a", .failure)], [("a", .ok)], ["a"]), ([("a", .warning)], [("a", .failure)], ["a"]),
      ([], [("a", .ok)], []), ([], [("a", .warning)], ["a"]), ([("a", .failure)], [], []),
      ([("a", .ok), ("b", .ok)], [("b", .skipped), ("a", .ok)], ["b"]),
    ] as [([(String, CheckFinding.Verdict)], [(String, CheckFinding.Verdict)], [String])])
  func changes(_ before: [(String, CheckFinding.Verdict)], _ after: [(String, CheckFinding.Verdict)], _ names: [String])
  {
    func diagnosis(_ findings: [(String, CheckFinding.Verdict)], _ found: String) -> Diagnosis {
      findings.reduce(into: Diagnosis()) { $0.add(CheckFinding($1.0, $1.1, found)) }
    }
    let changes = diagnosis(after, "3 of them").changes(since: diagnosis(before, "2 of them"))
    #expect(changes.map(\.name) == names)
  }

  @Test("are JSON with the words of the verdicts, without what is not there")
  func json() throws {
    var diagnosis = Diagnosis()
    diagnosis.add(CheckFinding("a", .ok, "well"))
    diagnosis.add(CheckFinding("b", .failure, "not \"well\"", remedy: "mend"))
    #expect(
      String(decoding: diagnosis.json, as: UTF8.self) == #"{"checks":[{"found":"well","name":"a","verdict":"ok"},"#
        + #"{"found":"not \"well\"","name":"b","remedy":"mend","verdict":"fail"}],"exit_code":1}"#)
    #expect(diagnosis.summary == "1 well, 0 to look at, 1 failing, 0 skipped")
  }
}

@Suite("Words of findings")
struct FindingWordsTests {
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
    #expect(
      (0...4).map { FindingWords.count($0, of: 3, "row", "rows") } == [
        "0 rows", "1 row", "2 rows", "at least 3 rows", "at least 3 rows",
      ])
  }
}
