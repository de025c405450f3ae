package import Channels
internal import FoundationEssentials
package import PushRules
package import Reactors

/// One push that an operator sends to devices of their own, past everything that decides, queues and records pushes.
package struct TrialPush: Sendable {
  /// What became of it at one device.
  package struct Answer: Equatable, Sendable {
    package let isAccepted: Bool
    /// For people, in lines; without an end.
    package let text: String
  }

  /// As long as APNs may be asked in all, connecting included.
  private static let limit = Duration.seconds(15)
  /// How long a device that is off may get it, in seconds.
  private static let life: Int64 = 3600
  private static let kind = "push"

  private let content: any PushContent

  /// - Throws: `DecodingError` that names the word, `title` or `body`, which no push may have.
  package init(title: String, body: String) throws {
    let document = (["title": .text(title), "body": .text(body)] as PayloadObject).encoded()
    _ = try JSONDecoder().decode(ServicePushRequest.self, from: Data(document))
    content = KnownKinds.content(
      ClaimedContent(surfaceID: nil, document: String(decoding: document, as: UTF8.self)), of: StoredPush.name)
  }

  /// Sends it to a device, and where APNs does not know a device token that named no environment, also to the other one.
  package func send(
    to target: PushTarget, by deliverers: [any PushDeliverer], on reactor: isolated Reactor
  ) async -> Answer {
    guard let deliverer = deliverers.first(where: { $0.channel == target.channel }) else {
      return Self.refused(target, over: target.channel.rawValue, "channel_not_configured")
    }
    return await send(to: target, by: deliverer, on: reactor)
  }

  private func send(
    to target: PushTarget, by deliverer: some PushDeliverer, on reactor: isolated Reactor
  ) async -> Answer {
    do throws(PushRequestError) {
      let route = try deliverer.route(to: target)
      let answer = try await send(to: target, over: route, by: deliverer, on: reactor)
      guard answer.other, target.environment == nil, let other = deliverer.route(besides: route) else {
        return answer.answer
      }
      let second = try await send(to: target, over: other, by: deliverer, on: reactor).answer
      guard second.isAccepted else { return answer.answer }
      let name = deliverer.environment(of: other) ?? other.name
      return Answer(
        isAccepted: true,
        text: "\(answer.answer.text)\n\(second.text)\nTo do: register this device with the environment \(name).")
    } catch {
      return Self.refused(target, over: target.channel.rawValue, error.code.rawValue)
    }
  }

  private func send(
    to target: PushTarget, over route: DeliveryRoute, by deliverer: some PushDeliverer, on reactor: isolated Reactor
  ) async throws(PushRequestError) -> (answer: Answer, other: Bool) {
    let subject = PushSubject(id: HostID(UUID()), kind: Self.kind)
    let push = try content.push(about: subject)
    let now = Int64(Date.now.timeIntervalSince1970)
    let addressee = Addressee(
      of: push, target, of: HostID(UUID()), about: subject, enqueuedAt: now * 1_000_000, unread: nil,
      expiresAt: now + Self.life)
    let request = try deliverer.request(for: push, to: addressee, over: route)
    let attempt = await deliverer.send(
      request, over: route, until: Reactor.now + Self.limit.clampedNanoseconds, permit: nil, on: reactor)
    let service = KnownChannels.type(ofRoute: route.name)?.service ?? "APNs"
    guard attempt.disposition == .accepted else {
      let reason = attempt.reason ?? "unknown"
      return (Self.refused(target, over: route.name, reason, by: service), attempt.otherEnvironment == .mayKnowTarget)
    }
    let identifier = (deliverer.identifier(of: request) ?? attempt.identifier).map { " as \($0)" } ?? ""
    let text = "\(Self.device(target, over: route.name)): \(service) accepted it\(identifier)."
    return (Answer(isAccepted: true, text: text), false)
  }

  private static func device(_ target: PushTarget, over way: String) -> String { "\(way) \(target.mark.prefix(8))" }

  private static func refused(
    _ target: PushTarget, over way: String, _ reason: String, by service: String = "the service"
  ) -> Answer {
    let remedy = remedies[reason] ?? "let tacet doctor look at settings, keys and connections"
    return Answer(
      isAccepted: false,
      text:
        "\(device(target, over: way)): not accepted: \(RefusalWords.described(reason, by: service)).\nTo do: \(remedy)."
    )
  }

  private static let remedies = [
    "BadDeviceToken":
      "name the environment of the build (--environment sandbox for one from Xcode), or copy the token anew",
    "DeviceTokenNotForTopic": "name the app that the token is of: --app and its bundle identifier",
    "ExpiredToken": "open the app on the device, and take the token that it gets",
    "Unregistered": "open the app on the device, and take the token that it gets",
    "app_not_configured": "add a section [app ...] for it to the settings file",
    "channel_not_configured": "set the channel up, as deploy/SETTINGS.md tells",
    "deviceTokenMalformed": "copy all of the token, as hexadecimal digits",
    "payloadTooLarge": "say it in fewer words",
    "UNREGISTERED": "open the app on the phone, and take the token that it gets",
    "SENDER_ID_MISMATCH": "use the service account of the Firebase project that the app was built with",
  ]
}
