import PushStore
import Testing

@testable import Operations

@Suite("What the doctor says of events for the host")
struct HostEventJudgementTests {
  private func judge(
    waiting: Int = 0, oldest: Duration? = nil, dead: Int = 0, announced: [String] = ["push.unread"],
    isConfigured: Bool = true
  ) -> CheckFinding {
    var figures = HostEventFigures()
    (figures.waiting, figures.oldestAge, figures.dead, figures.announced) = (waiting, oldest, dead, announced)
    return HostEventCheck.judge(figures, isConfigured: isConfigured)
  }

  @Test("what waits for a quarter of an hour is to be looked at, and what is dead; nothing of it fails the service")
  func verdicts() {
    #expect(judge(announced: [], isConfigured: false).verdict == .skipped)
    #expect(judge(isConfigured: false).remedy?.contains("EVENTS_URL") == true)
    #expect(judge(waiting: 1, announced: [], isConfigured: false).verdict == .warning)
    #expect(judge(announced: []).found == "announced: none; 0 events wait")
    #expect(judge(waiting: 1, oldest: .seconds(899)).verdict == .ok)
    #expect(
      judge(waiting: 1, oldest: .seconds(899)).found == "announced: push.unread; 1 event waits, the oldest for 14 min")
    #expect(judge(waiting: 1, oldest: .seconds(900)).verdict == .warning)
    #expect(judge(dead: 1).verdict == .warning && judge(dead: 2).found.hasSuffix("2 are dead"))
  }

  @Test("any answer shows that the receiver is there; without one the service fails")
  func receiver() {
    #expect(HostEventCheck.judge(.success(405)).verdict == .ok)
    let fault = HostEventFault(description: "the host cannot be reached")
    #expect(HostEventCheck.judge(.failure(fault)).verdict == .failure)
  }
}
