import Foundation
import HTTP2
import Reactors
import Testing

@testable import Simulators

@Suite("Faults over the wire")
struct PushServerTests {
  @Test(
    "a fault gives its request the outcome it stands for, and the log says whether it was processed",
    arguments: [
      (ServerFault.refuseStream, "not processed: refused", 0),
      (.resetStream(code: 2), "unknown: reset 2", 1),
      (.dropBeforeProcessing, "unknown: connection lost", 0),
      (.dropAfterProcessing, "unknown: connection lost", 1),
      (.goAway(lastStream: .current, code: 0, debug: ""), "200", 1),
      (.goAway(lastStream: .all, code: 0, debug: ""), "200", 1),
      (.goAway(lastStream: .previous, code: 0, debug: ""), "not processed: goaway", 0),
      (.goAway(lastStream: .none, code: 7, debug: "too many streams"), "not processed: goaway", 0),
      (.announceStreams(3), "200", 1),
      (.ignorePings, "200", 1),
      (.delay(milliseconds: 20), "200", 1),
      (.answer(ScriptedAnswer(status: 503, reason: "Shutdown")), #"503 {"reason":"Shutdown"}"#, 1),
    ])
  func faults(_ fault: ServerFault, _ outcome: String, _ recorded: Int) async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(fault)
      #expect(await connection.outcome(of: push, on: reactor) == outcome)
      #expect(scene.service.withLog { $0.total } == 1 + recorded)
      let met = try #require(scene.service.metFaults.first)
      #expect(met.kind == fault.kind.rawValue && met.stream == 3 && met.connection == 1)
      #expect(met.push == (recorded == 1 ? 2 : nil) && met.token == SimulatorScene.token)
    }
  }

  @Test("a connection that falls silent neither answers nor ends")
  func silence() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.silence)
      for _ in 0..<2 {
        #expect(await connection.outcome(of: push, within: .milliseconds(100), on: reactor) == "unknown: deadline")
      }
      #expect(scene.service.withLog { $0.total } == 1 && connection.state == .ready)
    }
  }

  @Test("a device that gets more than its rate is protected, the others are not held up")
  func tokenRate() async throws {
    try await SimulatorScene.play({ $0.registry.tokenRate = TokenRate(pushes: 2, seconds: 3600) }) { scene, reactor in
      scene.service.withRegistry { registry in
        _ = registry.register(RegisteredDevice(environment: .production, bundle: "com.example.app"), token: "b0b0")
      }
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      var outcomes: [String] = []
      for device in ["a0a0", "A0A0", "a0a0", "b0b0"] {
        outcomes.append(await connection.outcome(of: scene.push(token, to: device), on: reactor))
      }
      #expect(outcomes == ["200", "200", #"429 {"reason":"TooManyRequests"}"#, "200"])
      scene.service.clock.advance(milliseconds: 1_800_000)
      #expect(await connection.outcome(of: scene.push(token), on: reactor) == "200")
    }
  }

  @Test("a black hole swallows a request; the connection lives on")
  func blackHole() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.blackHole)
      #expect(await connection.outcome(of: push, within: .milliseconds(200), on: reactor) == "unknown: deadline")
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      #expect(scene.service.withLog { $0.total } == 2)
      #expect(scene.service.unprocessed == 1)
    }
  }

  @Test("a GOAWAY in the middle of a batch splits it: the streams up to it are answered, the rest provably untouched")
  func goAwayMidBatch() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#), skip: 4)
      let outcomes = await connection.outcomes(of: Array(repeating: push, count: 10), on: reactor)
      #expect(outcomes == Array(repeating: "200", count: 5) + Array(repeating: "not processed: goaway", count: 5))
      #expect(scene.service.withLog { $0.total } == 6)
    }
  }

  @Test("out of service, it ends its connections and refuses new ones; back in service, it answers at the same address")
  func outOfService() async throws {
    try await SimulatorScene.play { scene, reactor in
      let before = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await before.outcome(of: push, on: reactor) == "200")
      await scene.simulator.suspend()
      #expect(scene.simulator.connections.open.isEmpty)
      let address = try #require(scene.addresses.listeners[.production])
      let refused = await #expect(throws: SystemError.self) {
        _ = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
      }
      #expect(refused?.code == ECONNREFUSED)
      try await scene.simulator.resume()
      let after = try await scene.connect(on: reactor)
      #expect(await after.outcome(of: push, on: reactor) == "200")
      #expect(scene.service.withLog { $0.total } == 2)
    }
  }

  @Test("a fault for now happens to every open connection without a request")
  func strikesNow() async throws {
    try await SimulatorScene.play { scene, reactor in
      let observer = StateObserver()
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      connection.observer = observer
      let fault = ServerFault.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#)
      #expect(scene.simulator.connections.strike(fault) == 1)
      #expect(await observer.changed.wait(for: .seconds(30), on: reactor))
      #expect(observer.goAways.map(\.lastStreamID) == [1])
      #expect(observer.goAways.map(\.debugData) == [Array(#"{"reason":"Shutdown"}"#.utf8)])
    }
  }
}

private final class StateObserver: HTTP2ConnectionObserver {
  let changed = Signal()
  private(set) var goAways: [HTTP2GoAway] = []

  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    if case .draining(.goAway(let goAway)) = state { goAways.append(goAway) }
    changed.signal(on: reactor)
  }
}

@Suite("The simulator over TLS and HTTP/2")
struct APNSSimulatorTests {
  @Test("an accepted push opens the streams up and is in the log before its answer can be read")
  func accepted() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken(), collapseID: "m1")
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      #expect(connection.streamsMax == 1000)
      let record = try #require(scene.service.withLog { $0.records(PushQuery()).records.first })
      #expect(record.token == SimulatorScene.token && record.collapseID == "m1" && record.stream == 1)
      let answered = try #require(record.answeredMicroseconds)
      #expect(answered >= record.arrivedMicroseconds)
      #expect(scene.simulator.connections.open.map(\.requests) == [1])
      #expect(scene.simulator.connections.open.map(\.streamsMax) == [1000])
    }
  }

  @Test("a refusal takes the streams down to one, the next success brings them back")
  func streamsFollowAnswers() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      _ = await connection.outcome(of: scene.push(token), on: reactor)
      let refused = await connection.outcome(of: scene.push(token, to: "ffff"), on: reactor)
      #expect(refused == #"400 {"reason":"BadDeviceToken"}"#)
      #expect(connection.streamsMax == 1)
      _ = await connection.outcome(of: scene.push(token), on: reactor)
      #expect(connection.streamsMax == 1000)
    }
  }

  @Test("twenty bad tokens in a row end the connection with a GOAWAY")
  func badTokens() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      for _ in 0..<20 { _ = await connection.outcome(of: scene.push(token, to: "ffff"), on: reactor) }
      #expect(await connection.outcome(of: scene.push(token), on: reactor).hasPrefix("not processed"))
      #expect(scene.service.withLog { $0.outcomes } == ["400 BadDeviceToken": 20])
    }
  }

  @Test("the sandbox is another service with other tokens")
  func sandbox() async throws {
    try await SimulatorScene.play { scene, reactor in
      let token = try scene.providerToken()
      let connection = try await scene.connect(.sandbox, on: reactor)
      let refused = await connection.outcome(of: scene.push(token), on: reactor)
      #expect(refused == #"400 {"reason":"BadDeviceToken"}"#)
      scene.service.withRegistry { registry in
        _ = registry.register(RegisteredDevice(environment: .sandbox, bundle: "com.example.app"), token: "b0b0")
      }
      guard
        case .response(let response) = await connection.send(
          scene.push(token, to: "b0b0"), within: .seconds(10), on: reactor)
      else { throw NoResponse() }
      #expect(response.status == 200 && response.fields["apns-unique-id"] != nil)
    }
  }

  @Test("a client that offers only HTTP/1.1 is turned away in the handshake")
  func onlyHTTP2() async throws {
    try await SimulatorScene.play { scene, reactor in
      let address = try #require(scene.addresses.listeners[.production])
      let context = try SimulatorScene.clientContext(of: scene.simulator, protocols: ["http/1.1"])
      let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
      let error = await #expect(throws: TLSError.self) {
        _ = try await TLSStream.connect(
          over: socket, host: "127.0.0.1", context: context, within: .seconds(10), on: reactor)
      }
      #expect(error?.code == .protocolNotNegotiated)
    }
  }

  @Test("a device's delay holds its answers back, and only its")
  func delay() async throws {
    try await SimulatorScene.play { scene, reactor in
      scene.service.withRegistry { registry in
        let device = RegisteredDevice(environment: .production, bundle: "com.example.app", delayMilliseconds: 300)
        _ = registry.register(device, token: "de1a")
      }
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      _ = await connection.outcome(of: scene.push(token), on: reactor)
      _ = await connection.outcomes(of: [scene.push(token, to: "de1a"), scene.push(token)], on: reactor)
      let records = scene.service.withLog { $0.records(PushQuery()).records }
      let answered = try records.map { try #require($0.answeredMicroseconds) }
      #expect(answered[1] - records[1].arrivedMicroseconds >= 300_000)
      #expect(answered[2] < answered[1])
    }
  }

  @Test("waiting for pushes ends with the last of them, or with the time")
  func waiting() async throws {
    try await SimulatorScene.play { scene, reactor in
      #expect(await scene.simulator.waitForPushes(1, within: .milliseconds(1)) == false)
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      reactor.start { _ = await connection.outcome(of: push, on: reactor) }
      #expect(await scene.simulator.waitForPushes(1, within: .seconds(60)))
    }
  }
}

private struct NoResponse: Error {}

@Suite("The conduct of a connection")
struct ConnectionConductTests {
  @Test("streams open up with the first success, and again after a refusal")
  func streamsFollowAnswers() {
    var conduct = ConnectionConduct(policy: StreamPolicy())
    #expect(conduct.streams == 1)
    let announced = [403, 200, 200, 410, 429, 410, 200].map { status in
      conduct.answered(status: status, reason: nil)
    }
    #expect(announced == [[], [.announceStreams(1000)], [], [], [.announceStreams(1)], [], [.announceStreams(1000)]])
  }

  @Test("a policy without the two rules never changes the streams")
  func rulesCanBeSwitchedOff() {
    var policy = StreamPolicy()
    policy.startsWithOne = false
    policy.dropsAfterRefusal = false
    policy.streamsMax = 7
    var conduct = ConnectionConduct(policy: policy)
    #expect(conduct.streams == 7)
    let announced = [403, 200].flatMap { conduct.answered(status: $0, reason: nil) }
    #expect(announced.isEmpty)
  }

  @Test("bad tokens in a row end the connection once; a success between them starts the count anew")
  func badTokensEndTheConnection() {
    var policy = StreamPolicy()
    policy.badTokensMax = 2
    policy.dropsAfterRefusal = false
    policy.startsWithOne = true
    var conduct = ConnectionConduct(policy: policy)
    let answers = [400, 200, 400, 400, 400].map { status in
      conduct.answered(status: status, reason: status == 400 ? "BadDeviceToken" : nil)
    }
    #expect(answers == [[], [.announceStreams(1000)], [], [.goAway(reason: "BadDeviceToken")], []])
  }
}

@Suite("Who gets a connection")
struct ConnectionGateTests {
  private let second: UInt64 = 1_000_000_000

  @Test("connecting too often is refused for a while, then everything is forgotten")
  func churn() {
    var gate = ConnectionGate()
    let limit = ChurnLimit(connections: 2, seconds: 10, refusedMilliseconds: 5000)
    let admitted = [0, 1, 2, 6, 7, 8].map { gate.admits(limit, now: $0 * second) }
    #expect(admitted == [true, true, false, false, true, true])
    #expect(gate.refusedCount == 2)
  }

  @Test("a connection counts for exactly the time of the limit")
  func window() {
    for (moment, isAdmitted) in [(10 * second - 1, false), (10 * second, true)] {
      var gate = ConnectionGate()
      let limit = ChurnLimit(connections: 1, seconds: 10, refusedMilliseconds: 1)
      let admitted = [0, moment].map { gate.admits(limit, now: $0) }
      #expect(admitted == [true, isAdmitted])
    }
  }

  @Test("so many clients, or everybody for a time, are turned away; without a limit nobody else is")
  func ordered() {
    var gate = ConnectionGate()
    gate.refuse(next: 2)
    let next = (0..<3).map { _ in gate.admits(nil, now: 0) }
    #expect(next == [false, false, true])
    gate.refuse(until: 5)
    let later = [4, 5].map { gate.admits(nil, now: $0) }
    #expect(later == [false, true])
    #expect(gate.refusedCount == 3)
  }
}
