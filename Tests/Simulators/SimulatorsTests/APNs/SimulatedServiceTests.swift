import Cryptography
import Synchronization
import TestAPNSCases
import Testing

@testable import Simulators

@Suite("The simulated service")
struct SimulatedServiceTests {
  private let key = P256PrivateKey()
  private let service = SimulatedService(
    clock: SimulationClock(standingAt: WallInstant(seconds: 1_790_000_000)), seed: 1)

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
    service.withFaults { script in _ = script.append(.init(fault)) }
    let reception = try receive()
    #expect(reception.fault == fault)
    #expect((reception.verdict != nil) == isRecorded)
    #expect(service.withLog { $0.total } == (isRecorded ? 1 : 0))
    #expect(service.unprocessed == (isRecorded ? 0 : 1))
    #expect(try receive().fault == nil)
  }

  @Test("a waiter is called when the total is reached, and never after it was cancelled")
  func waiters() throws {
    let called = Atomic<Int>(0)
    #expect(service.whenTotalReaches(0) { called.add(1, ordering: .relaxed) } == nil)
    #expect(called.load(ordering: .relaxed) == 1)
    _ = service.whenTotalReaches(2) { called.add(10, ordering: .relaxed) }
    let cancelled = try #require(service.whenTotalReaches(2) { called.add(100, ordering: .relaxed) })
    service.cancelWait(cancelled)
    _ = try receive()
    #expect(called.load(ordering: .relaxed) == 1)
    _ = try receive()
    #expect(called.load(ordering: .relaxed) == 11)
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
