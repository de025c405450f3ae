internal import FoundationEssentials
package import PushRules
package import Reactors

extension DeliveryChannel {
  /// Android devices, over Firebase Cloud Messaging.
  package static let fcm = DeliveryChannel(rawValue: "fcm")
}

/// The deliverer of Android devices: one route, the Firebase project.
package final class FCMDeliverer {
  private let client: FCMClient
  private let route: DeliveryRoute
  private let style: FCMStyle
  private let clock: () -> Int64

  /// Makes a deliverer on the client's reactor.
  /// - Parameter clock: Unix seconds; nil for the machine's wall clock.
  package init(_ client: FCMClient, style: FCMStyle = FCMStyle(), clock: (() -> Int64)? = nil) {
    self.client = client
    self.style = style
    route = DeliveryRoute(.fcm, name: "fcm/\(client.projectIdentifier)")
    self.clock = clock ?? { Int64(Date().timeIntervalSince1970) }
  }
}

/// How messages are shown on Android.
package struct FCMStyle: Equatable, Sendable {
  package var presentation = FCMMessage.Presentation.notification

  /// The app's notification channel; nil for the one of its manifest.
  package var channelIdentifier: String?

  package init() {}
}

extension FCMDeliverer: PushDeliverer {
  package var channel: DeliveryChannel { .fcm }

  package var routes: [DeliveryRoute] { [route] }

  package var pushesInFlightMax: Int? { client.messagesMax }

  package func route(to target: PushTarget) throws(PushRequestError) -> DeliveryRoute { route }

  /// The push as a message: a notification, or data that wakes the app.
  /// - Throws: ``PushRequestError`` for a token or a content that FCM would refuse.
  package func request(
    for push: Push, to addressee: Addressee, over route: DeliveryRoute
  ) throws(PushRequestError) -> FCMMessage {
    do throws(FCMMessageError) {
      return try message(push, to: addressee).fitted()
    } catch {
      throw PushRequestError(error)
    }
  }

  package func send(
    _ message: FCMMessage, over route: DeliveryRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    guard permit?.isValid != false else { return .withdrawn }
    let attempt = await client.send(message, until: deadline, on: reactor)
    // The project's credential of another platform is wrong: an app of iOS has registered its token here.
    return attempt.reason == "THIRD_PARTY_AUTH_ERROR" ? attempt.suspectingTarget : attempt
  }

  package func close(on reactor: isolated Reactor) { client.close(on: reactor) }

  private func message(_ push: Push, to addressee: Addressee) throws(FCMMessageError) -> FCMMessage {
    var message = FCMMessage(token: addressee.target.address)
    message.timeToLive = .seconds(max(0, addressee.expiresAt - clock()))
    switch push.payload {
    case .alert(let alert): fill(&message, with: alert, of: push, to: addressee)
    case .background(let custom):
      message.presentation = .dataOnly
      message.priority = .normal
      message.data = FCMData.renaming(custom.fewerReads.texts(badge: addressee.badge))
      message.collapseKey = "background"
    case .liveActivity: throw FCMMessageError(.nothingToShow, "Android shows no Live Activities")
    }
    return message
  }

  /// Members of the data that say how an alert is shown.
  private static let ownNames: Set<String> = ["push_log_id", "silent", "category"]

  private func fill(_ message: inout FCMMessage, with alert: AlertPayload, of push: Push, to addressee: Addressee) {
    var texts = alert.custom.texts(badge: addressee.badge)
    message.image = texts.removeValue(forKey: "image_url")
    var data = FCMData.renaming(texts, occupied: Self.ownNames)
    data["push_log_id"] = addressee.logID
    if alert.sound == nil { data["silent"] = "true" }
    if let category = alert.category { data["category"] = category }
    // The system would show a sealed message without the app that opens it.
    message.presentation = alert.custom["sealed"] == nil ? style.presentation : .dataOnly
    message.title = alert.title?.words
    message.titleKey = alert.title?.key
    message.body = [alert.subtitle, alert.body].compactMap { $0?.words }.filter { !$0.isEmpty }.joined(separator: "\n")
    message.bodyKey = alert.body?.key
    message.data = FCMData.renaming(data)
    message.priority = push.priority == .powerAware || alert.interruptionLevel == .passive ? .normal : .high
    // A resend after a lost answer replaces what it repeats.
    message.tag = push.collapseIdentifier.text
    message.channelIdentifier = style.channelIdentifier
    message.badge = addressee.badge
  }
}

extension AlertText {
  fileprivate var key: FCMMessage.Key? {
    if case .localized(let key, let arguments, _) = self { FCMMessage.Key(key, arguments: arguments) } else { nil }
  }
}

extension PayloadObject {
  /// The most messages of a read that fit.
  private static let readsMax = 40

  /// The same with the newest reads alone, which come first.
  fileprivate var fewerReads: PayloadObject {
    guard case .array(let ids)? = self["message_ids"], ids.count > Self.readsMax else { return self }
    var fewer = self
    fewer["message_ids"] = .array(Array(ids.prefix(Self.readsMax)))
    if fewer["conversation_id"] != nil { fewer["all_before"] = fewer["all_before"] ?? ids.first }
    return fewer
  }

  /// The members as FCM's data can have them: texts as they are, other values as JSON. A member `badge` of null becomes the badge.
  fileprivate func texts(badge: Int?) -> [String: String] {
    var texts: [String: String] = [:]
    for (key, value) in members {
      switch value {
      case .string(let text): texts[key] = text
      case .null: texts[key] = key == "badge" ? badge.map { "\($0)" } : nil
      default:
        var json = JSONBytes(reservingBytes: 64)
        json.append(value: value)
        texts[key] = String(decoding: json.bytes, as: UTF8.self)
      }
    }
    return texts
  }
}

extension PushRequestError {
  fileprivate init(_ error: FCMMessageError) {
    switch error.code {
    case .payloadTooLarge: self.init(.payloadTooLarge, error.description)
    case .nothingToShow: self.init(.nothingToShow, error.description)
    default: self.init(.targetMalformed, error.description)
    }
  }
}
