import Foundation
import HTTP2
import Reactors
import Testing

@testable import Simulators

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
        let device = RegisteredDevice(environment: .production, bundle: "com.example.app", delayMilliseconds: 30)
        _ = registry.register(device, token: "de1a")
      }
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      _ = await connection.outcome(of: scene.push(token), on: reactor)
      _ = await connection.outcomes(of: [scene.push(token, to: "de1a"), scene.push(token)], on: reactor)
      let records = scene.service.withLog { $0.records(PushQuery()).records }
      let answered = try records.map { try #require($0.answeredMicroseconds) }
      #expect(answered[1] - records[1].arrivedMicroseconds >= 30_000)
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
      #expect(await scene.simulator.waitForPushes(1, within: .seconds(10)))
    }
  }
}

private struct NoResponse: Error {}
