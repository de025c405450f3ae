import Cryptography
import Reactors
import TestAPNSCases
import Testing

@testable import Simulators

@Suite("The simulated service")
struct SimulatedServiceTests {
  private let key = P256PrivateKey()
  private let service = SimulatedService(
    clock: SimulationClock(standingAt: WallInstant(seconds: 1_790_000_000)))

  init() {
    let key = key
    service.withRegistry { registry in
      registry.register(ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
      registry.registerBundle("com.example.app", team: nil)
      registry.register(RegisteredDevice(environment: .production, bundle: "com.example.app"), token: "aa")
    }
  }

  @Test("an accepted push is recorded with where and when it came from, and later with its answer")
  func records() throws {
    let reception = try receive()
    #expect(reception.verdict?.status == 200)
    service.markAnswered(try #require(reception.number))
    let record = try #require(service.withLog { $0.records(PushQuery()).records.first })
    #expect(record.connection == 7 && record.stream == 5 && record.arrivedMicroseconds == 42)
    #expect(record.token == "aa" && record.topic == "com.example.app" && record.payload == payload)
    #expect(record.providerTokenHash?.count == 16)
    #expect(record.answeredMicroseconds != nil)
  }

  @Test(
    "a fault before the judgement leaves no record, one after it does",
    arguments: [
      (ServerFault.blackHole, false), (.dropBeforeProcessing, false), (.refuseStream, false),
      (.goAway(lastStream: .previous, code: 0, debug: ""), false), (.dropAfterProcessing, true),
      (.resetStream(code: 2), true), (.goAway(lastStream: .current, code: 0, debug: ""), true),
    ])
  func faults(_ fault: ServerFault, isRecorded: Bool) throws {
    service.withFaults { script in _ = script.arrange(.init(fault)) }
    let reception = try receive()
    #expect(reception.fault == fault)
    #expect((reception.verdict != nil) == isRecorded)
    #expect(service.withLog { $0.total } == (isRecorded ? 1 : 0))
    #expect(service.unprocessed == (isRecorded ? 0 : 1))
    #expect(try receive().fault == nil)
  }

  @Test("a wait ends at once when the total is reached, and else with its limit")
  func waits() async throws {
    #expect(try await waits(for: 0, within: .seconds(60)))
    #expect(try await !waits(for: 1, within: .milliseconds(1)))
    _ = try receive()
    #expect(try await waits(for: 1, within: .seconds(60)))
  }

  private func waits(for count: Int, within limit: Duration) async throws -> Bool {
    try await ReactorGroup.perform { [service] in await service.waitForPushes(count, within: limit, on: $0) }
  }

  @Test("findings are counted and point at their request")
  func lint() throws {
    _ = try receive(dropping: "apns-push-type")
    #expect(service.lint.counts == [.missingPushType: 1])
    #expect(service.lint.entries.map(\.push) == [1])
  }

  private let payload = #"{"aps":{"alert":"hi"}}"#

  private func receive(dropping name: String? = nil) throws -> Reception {
    let token = try ProviderTokenMint(keyIdentifier: "KEY0000001", issuer: "TEAM000001", issuedAt: "1790000000")
      .sign(with: key)
    let fields = [
      (name: "authorization", value: "bearer \(token)"), (name: "apns-topic", value: "com.example.app"),
      (name: "apns-push-type", value: "alert"),
    ]
    let request = InspectedRequest(
      method: "POST", path: "/3/device/aa", fields: fields.filter { $0.name != name }, body: Array(payload.utf8))
    var binding = ProviderBinding()
    return service.receive(
      request,
      from: RequestOrigin(
        environment: .production, connection: 7, stream: 5, arrival: WallInstant(microseconds: 42)),
      binding: &binding)
  }
}

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

@Suite("Fault scripts")
struct WaitingFaultTests {
  @Test("a fault lets its requests pass, hits its number, and makes room for the next")
  func order() {
    var script: [WaitingFault] = []
    script.arrange(.init(.blackHole, skip: 2, times: 1))
    script.arrange(.init(.refuseStream, skip: 0, times: 2))
    script.arrange(.init(.dropAfterProcessing, skip: 1, times: 1))
    let met = (0..<8).map { _ in script.next { _ in true }?.fault }
    #expect(met == [nil, nil, .blackHole, .refuseStream, .refuseStream, nil, .dropAfterProcessing, nil])
    #expect(script.isEmpty)
  }

  @Test("a fault that is not due yet neither counts nor hits, and holds up no other")
  func notBefore() {
    var script: [WaitingFault] = []
    script.arrange(.init(.blackHole, notBefore: 10))
    script.arrange(.init(.refuseStream, skip: 1))
    let met = [0, 9, 10, 10].map { now in script.next { $0.notBefore <= now }?.fault }
    #expect(met == [nil, .refuseStream, .blackHole, nil])
  }

  @Test("a fault for no request is none")
  func noTimes() {
    var script: [WaitingFault] = []
    script.arrange(.init(.blackHole, times: 0))
    #expect(script.isEmpty)
  }

  @Test("a script has a bound")
  func bound() {
    var script: [WaitingFault] = []
    let taken = (0...[WaitingFault].faultsMax).map { _ in script.arrange(.init(.blackHole)) }
    #expect(taken.dropLast().allSatisfy { $0 })
    #expect(taken.last == false)
  }
}
