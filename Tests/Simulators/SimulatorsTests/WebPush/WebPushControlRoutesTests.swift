import Cryptography
import Foundation
import HTTPTypes
import Reactors
import TestLogs
import Testing

@testable import Simulators

/// A simulator and a client that asks it anything.
struct WebPushRig {
  let simulator: WebPushSimulator
  private let client: SimulatorClient

  static func run(_ test: (WebPushRig) async throws -> Void) async throws {
    var configuration = WebPushSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    try await SimulatorClient.run(
      { try await WebPushSimulator.start(configuration, on: $0) }, trusting: \.certificateAuthority,
      stop: { await $0.stop() }
    ) { try await test(WebPushRig(simulator: $0, client: $1)) }
  }

  /// Asks the control endpoint.
  func control(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws
    -> SimulatorClient.Answer
  {
    try #require(await client.send(method, "http://\(simulator.control)\(path)", [:], body.map { Array($0.utf8) }))
  }

  /// Pushes to a subscription; nil when the connection ends without an answer.
  func push(_ identifier: String, _ fields: HTTPFields = [.timeToLive: "60"], _ body: [UInt8] = []) async
    -> SimulatorClient.Answer?
  {
    await client.send(.post, simulator.service.origin + "/push/\(identifier)", fields, body)
  }

}

@Suite("The control endpoint of the stand-in", .timeLimit(.minutes(5)))
struct WebPushControlRoutesTests {
  private struct Subscription: Decodable {
    struct Keys: Decodable {
      let p256dh, auth: String
    }

    let id, endpoint, face, state: String
    let keys: Keys
    let vapid_key: String?
  }

  private struct Page: Decodable {
    let pushes: [WebPushRecord]
  }

  @Test("a subscription has an endpoint and keys, as a browser reports them")
  func subscribe() async throws {
    try await WebPushRig.run { rig in
      let key = Base64URL.encode(P256PrivateKey().publicKey.x963)
      let answer = try await rig.control(.post, "/subscriptions", #"{"vapid_key":"\#(key)","face":"apple"}"#)
      #expect(answer.status == 200)
      let subscription = try answer.decoded(Subscription.self)
      #expect(subscription.endpoint == rig.simulator.service.origin + "/push/" + subscription.id)
      #expect(subscription.vapid_key == key)
      #expect(subscription.face == "apple")
      #expect(Base64URL.decode(subscription.keys.p256dh.utf8)?.count == 65)
      #expect(Base64URL.decode(subscription.keys.auth.utf8)?.count == 16)
      #expect(try await rig.control(.get, "/subscriptions").text.contains(subscription.id))
    }
  }

  @Test(
    "orders that cannot be are refused, and say why",
    arguments: [
      ("/subscriptions", #"{"id":"a/b"}"#), ("/subscriptions", #"{"id":""}"#),
      ("/subscriptions", #"{"vapid_key":"x"}"#),
      ("/subscriptions", #"{"face":"netscape"}"#), ("/subscriptions", #"{"identifier":"x"}"#), ("/subscriptions", "["),
      ("/faults", #"{"kind":"answer"}"#), ("/faults", #"{"kind":"answer","status":700}"#),
      ("/faults", #"{"kind":"delay"}"#), ("/faults", #"{"kind":"drop_after","status":500}"#),
      ("/faults", #"{"kind":"drop_after","delay_ms":1}"#), ("/faults", #"{"kind":"delay","delay_ms":-1}"#),
      ("/faults", #"{"kind":"black_hole","times":-1}"#), ("/faults", #"{"kind":"explode"}"#),
      ("/clock", #"{"advance_ms":99999999999999999}"#), ("/clock", "{}"),
    ])
  func refused(_ path: String, _ body: String) async throws {
    try await WebPushRig.run { rig in
      let answer = try await rig.control(.post, path, body)
      #expect(answer.status == 400)
      #expect(answer.text.contains("detail"))
    }
  }

  @Test("pushes are waited for, listed and forgotten")
  func pushes() async throws {
    try await WebPushRig.run { rig in
      rig.simulator.service.add(SimulatedSubscription(identifier: "a"))
      rig.simulator.service.add(SimulatedSubscription(identifier: "b"))
      async let wait = rig.control(.get, "/pushes/wait?count=3")
      for identifier in ["a", "b", "unknown"] { _ = await rig.push(identifier) }
      #expect(try await wait.text == #"{"outcomes":{"201":2,"404 errno 102":1},"total":3}"#)
      let all = try await rig.control(.get, "/pushes").decoded(Page.self).pushes
      #expect(all.map(\.subscription) == ["a", "b", "unknown"])
      #expect(all.map(\.number) == [1, 2, 3])
      let page = try await rig.control(.get, "/pushes?after=1&limit=1").decoded(Page.self).pushes
      #expect(page.map(\.subscription) == ["b"])
      #expect(try await rig.control(.get, "/pushes?subscription=a").decoded(Page.self).pushes.count == 1)
      #expect(try await rig.control(.delete, "/pushes").status == 204)
      #expect(try await rig.control(.get, "/pushes/wait?count=1&timeout_ms=1").status == 408)
      #expect(try await rig.control(.get, "/pushes/wait").status == 400)
    }
  }

  @Test("a user unsubscribes, and the service answers 410 from then on")
  func unsubscribe() async throws {
    try await WebPushRig.run { rig in
      rig.simulator.service.add(SimulatedSubscription(identifier: "a"))
      #expect(await rig.push("a")?.status == 201)
      let change = try await rig.control(.put, "/subscriptions/a/state", #"{"state":"gone"}"#)
      #expect(change.status == 204)
      #expect(await rig.push("a")?.status == 410)
      #expect(try await rig.control(.put, "/subscriptions/b/state", #"{"state":"gone"}"#).status == 404)
    }
  }

  @Test("faults hit the requests that they are meant for")
  func faults() async throws {
    try await WebPushRig.run { rig in
      for identifier in ["a", "b"] { rig.simulator.service.add(SimulatedSubscription(identifier: identifier)) }
      let fault = #"{"kind":"answer","status":429,"fields":{"retry-after":"30"},"subscription":"a","skip":1,"times":2}"#
      #expect(try await rig.control(.post, "/faults", fault).status == 204)
      #expect(try await rig.control(.get, "/faults").text.contains(#""skip":1"#))
      var statuses: [Int?] = []
      for identifier in ["a", "b", "a", "b", "a", "a"] { statuses.append(await rig.push(identifier)?.status) }
      #expect(statuses == [201, 201, 429, 201, 429, 201])
      for (kind, count) in [("drop_before", 0), ("drop_after", 1)] {
        rig.simulator.service.forgetPushes()
        _ = try await rig.control(.post, "/faults", #"{"kind":"\#(kind)"}"#)
        #expect(await rig.push("a") == nil)
        #expect(rig.simulator.service.totals.total == count)
      }
      #expect(try await rig.control(.post, "/faults", #"{"kind":"delay","delay_ms":1}"#).status == 204)
      #expect(await rig.push("a")?.status == 201)
      _ = try await rig.control(.post, "/faults", #"{"kind":"black_hole"}"#)
      #expect(try await rig.control(.delete, "/faults").status == 204)
      #expect(rig.simulator.service.faults.isEmpty)
    }
  }

  @Test("a simulator that stops lets go of the requests that wait")
  func stop() async throws {
    try await WebPushRig.run { rig in
      rig.simulator.service.add(SimulatedSubscription(identifier: "a"))
      rig.simulator.service.arrange(PushFault(.blackHole))
      async let push = rig.push("a")
      #expect(await rig.simulator.waitForPushes(1, within: .seconds(60)))
      await rig.simulator.stop()
      #expect(await push == nil)
    }
  }
}
