import Testing

@testable import Simulators

@Suite("The push log")
struct PushLogTests {
  @Test("numbers run on from 1, and a query goes on where the last one ended")
  func pages() {
    var log = APNSPushLog()
    let numbers = (1...5).map { _ in log.append(record()) }
    #expect(numbers == [1, 2, 3, 4, 5])
    var query = PushQuery()
    query.limit = 2
    let first = log.records(query)
    #expect(first.records.map(\.number) == [1, 2])
    query.after = first.next
    query.limit = 10
    #expect(log.records(query).records.map(\.number) == [3, 4, 5])
    query.after = 5
    #expect(log.records(query).next == 5)
  }

  @Test("a full log evicts the oldest records and keeps counting")
  func eviction() {
    var log = APNSPushLog(capacity: 2)
    for _ in 0..<3 { log.append(record()) }
    log.append(record(status: 400, reason: "BadTopic"))
    #expect(log.records(PushQuery()).records.map(\.number) == [3, 4])
    #expect(log.total == 4)
    #expect(log.outcomes == ["200": 3, "400 BadTopic": 1])
    log.markAnswered(1, at: WallInstant(microseconds: 9))
    log.markAnswered(4, at: WallInstant(microseconds: 9))
    #expect(log.records(PushQuery()).records.map(\.answeredMicroseconds) == [nil, 9])
  }

  @Test("conditions of a query hold together, and hexadecimal is compared without case")
  func conditions() {
    var log = APNSPushLog()
    log.append(record(token: "AA", collapseID: "x"))
    log.append(record(token: "aa", collapseID: "y"))
    log.append(record(token: "bb", collapseID: "x"))
    var query = PushQuery()
    query.token = "aA"
    #expect(log.records(query).records.count == 2)
    query.collapseID = "y"
    #expect(log.records(query).records.map(\.number) == [2])
    #expect(log.records(query).next == 3)
    query.identifier = "no such"
    #expect(log.records(query).records.isEmpty)
  }

  @Test("an emptied log forgets everything but the numbers")
  func removeAll() {
    var log = APNSPushLog()
    log.append(record())
    log.removeAll()
    #expect(log.total == 0 && log.outcomes.isEmpty && log.screen.visible.isEmpty)
    let number = log.append(record())
    #expect(number == 2)
  }

  @Test("a screen has one line per device and collapse identifier, and one per push without")
  func screen() {
    var log = APNSPushLog()
    log.append(record(token: "AA", collapseID: "x"))
    log.append(record(token: "aa", collapseID: "x"))
    log.append(record(token: "bb", collapseID: "x"))
    log.append(record(token: "aa"))
    log.append(record(token: "aa"))
    log.append(record(token: "aa", collapseID: "refused", status: 400, reason: "BadTopic"))
    log.append(record(token: "aa", collapseID: "silent", pushType: .background))
    let lines = log.screen.visible
    #expect(lines.map(\.token) == ["aa", "bb", "aa", "aa"])
    #expect(lines.map(\.shown) == [2, 1, 1, 1])
  }

  @Test("full screens forget their oldest line")
  func screenIsBounded() {
    var log = APNSPushLog(capacity: 2)
    for token in ["aa", "bb", "cc"] { log.append(record(token: token, collapseID: "x")) }
    #expect(log.screen.visible.map(\.token) == ["bb", "cc"])
  }

  private func record(
    token: String = "aa", collapseID: String? = nil, pushType: SimulatedPushType = .alert, status: Int = 200,
    reason: String? = nil
  ) -> APNSPushRecord {
    APNSPushRecord(
      arrivedMicroseconds: 1, environment: .production, connection: 1, stream: 1, token: token,
      topic: "com.example.app",
      pushType: pushType, priority: 10, identifier: "id", collapseID: collapseID, payload: "{}", status: status,
      reason: reason)
  }
}
