import Channels
import Foundation
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Operations

@Suite("One push to one's own device")
struct TrialPushTests {
  /// APNs with the same device in one of two environments, or another answer.
  private final class MockDeliverer: PushDeliverer {
    let channel = DeliveryChannel.apns
    let routes = ["production", "sandbox"].map { DeliveryRoute(.apns, name: "com.example.app/\($0)") }
    private let answers: [DeliveryAttempt]
    private(set) var sent: [String] = []

    /// - Parameter answers: of production and sandbox.
    init(_ answers: [DeliveryAttempt]) { self.answers = answers }

    func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute {
      if target.address.isEmpty { throw PushRequestError(.deviceTokenMalformed, "") }
      return routes[target.environment == "sandbox" ? 1 : 0]
    }

    func request(
      for push: Push, to addressee: Addressee, over route: DeliveryRoute
    ) throws(PushRequestError) -> String {
      String(decoding: try push.payload.encoded(badge: addressee.badge, logID: addressee.logID), as: UTF8.self)
    }

    func identifier(of request: String) -> String? { "id-1" }

    func send(
      _ request: String, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
      on reactor: isolated Reactor
    ) async -> DeliveryAttempt {
      sent.append(request)
      return answers[routes.firstIndex(of: route) ?? 0]
    }

    func route(besides route: DeliveryRoute) -> DeliveryRoute? { routes.first { $0 != route } }
    func environment(of route: DeliveryRoute) -> String? { String(route.name.split(separator: "/")[1]) }
  }

  private static let accepted = DeliveryAttempt(.accepted)

  private static func unknown(_ reason: String = "BadDeviceToken", other: Bool = true) -> DeliveryAttempt {
    var attempt = DeliveryAttempt(.suspectToken, reason: reason)
    if other { attempt.otherEnvironment = .mayKnowTarget }
    return attempt
  }

  private static func send(
    _ answers: [DeliveryAttempt], address: String = "aabbccddee", environment: String? = nil,
    channel: DeliveryChannel = .apns
  ) async throws -> (answer: TrialPush.Answer, sent: [String]) {
    try await onReactor { reactor in
      let deliverer = MockDeliverer(answers)
      let answer = try await TrialPush(title: "Hello", body: "World").send(
        to: PushTarget(channel, address: address, environment: environment), by: [deliverer], on: reactor)
      return (answer, deliverer.sent)
    }
  }

  @Test("shows its words, and the answer names route, device and push")
  func accepted() async throws {
    let (answer, sent) = try await Self.send([Self.accepted, Self.unknown()])
    #expect(answer.text == "com.example.app/production aabbccdd: APNs accepted it as id-1." && answer.isAccepted)
    #expect(sent.count == 1 && sent[0].contains(#""alert":{"title":"Hello","body":"World"}"#), "\(sent)")
  }

  @Test(
    "where APNs does not know a token that named no environment, the other one is asked",
    arguments: [
      (nil, true, true, 2), ("production", true, false, 1), (nil, false, false, 2),
    ] as [(String?, Bool, Bool, Int)])
  func other(environment: String?, sandboxAccepts: Bool, isAccepted: Bool, count: Int) async throws {
    let sandbox = sandboxAccepts ? Self.accepted : Self.unknown()
    let (answer, sent) = try await Self.send([Self.unknown(), sandbox], environment: environment)
    #expect(answer.isAccepted == isAccepted && sent.count == count)
    #expect(answer.text.contains("not accepted: APNs does not know the device token"))
    let remedy = isAccepted ? "register this device with the environment sandbox." : "name the environment of the build"
    #expect(answer.text.contains("\nTo do: \(remedy)"), "\(answer.text)")
  }

  @Test(
    "a refusal is said in words, with what to do",
    arguments: [
      ("Unregistered", "open the app on the device"), ("DeviceTokenNotForTopic", "name the app"),
      ("app_not_configured", "add a section"), ("InvalidProviderToken", "let tacet doctor look"),
      ("SomethingNew", "let tacet doctor look"),
    ])
  func refused(reason: String, remedy: String) async throws {
    let (answer, _) = try await Self.send([Self.unknown(reason, other: false), Self.accepted])
    #expect(
      !answer.isAccepted && answer.text.contains(reason) && answer.text.contains("To do: \(remedy)"), "\(answer.text)")
  }

  @Test("what cannot be sent at all is said too: a malformed token, a channel that is not set up")
  func unsent() async throws {
    let malformed = try await Self.send([Self.accepted], address: "")
    #expect(malformed.answer.text.contains("To do: copy all of the token") && malformed.sent.isEmpty)
    let other = try await Self.send([Self.accepted], channel: DeliveryChannel(rawValue: "fcm"))
    #expect(other.answer.text.contains("To do: set the channel up") && other.sent.isEmpty && !other.answer.isAccepted)
  }

  @Test(
    "words that no push may have are refused",
    arguments: [
      ("", "", false), ("A", "", true), (String(repeating: "a", count: 256), "", true),
      (String(repeating: "a", count: 257), "", false), ("A", String(repeating: "b", count: 2048), true),
      ("A", String(repeating: "b", count: 2049), false),
    ])
  func words(title: String, body: String, isUsable: Bool) {
    #expect(((try? TrialPush(title: title, body: body)) != nil) == isUsable)
  }
}
