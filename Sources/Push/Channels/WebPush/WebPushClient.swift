internal import Cryptography
internal import FoundationEssentials
package import HTTPTransfers
internal import HTTPTypes
package import PushRules
package import Reactors

/// Sends pushes to browsers' push services, on one reactor.
///
/// Uses HTTP/2 where a service offers it, one connection for many pushes. Each push is encrypted here. No answer is a thrown
/// error: every end is a `DeliveryAttempt`.
package final class WebPushClient {
  private let configuration: WebPushClientConfiguration
  private let signer: VAPIDSigner
  private let transfers: HTTPTransferClient
  /// Pushes in flight by origin. Empty origins are removed.
  private var inFlight: [String: Int] = [:]

  /// A client without connections. Its methods must be called on the same reactor.
  package init(
    _ configuration: WebPushClientConfiguration = WebPushClientConfiguration(), signer: VAPIDSigner,
    on reactor: isolated Reactor
  ) {
    self.configuration = configuration
    self.signer = signer
    transfers = HTTPTransferClient(configuration.transfers, on: reactor)
  }

  package var pushesPerOriginMax: Int { configuration.pushesPerOriginMax }

  package func hasRoom(for endpoint: WebPushEndpoint) -> Bool {
    transfers.pendingCount < configuration.pushesMax
      && inFlight[endpoint.origin, default: 0] < configuration.pushesPerOriginMax
  }

  /// Sends a push once. A resend can show twice, unless both have one `tag`.
  ///
  /// A slow service delays no other: each origin has a share of the places, and a push beyond it is not sent but ends with
  /// `too_many_in_flight`.
  /// - Parameters:
  ///   - deadline: the latest end of the attempt, in monotonic nanoseconds, as `Reactor.now`.
  ///   - permit: asked before the push goes; one that has ended withdraws it. Nil lets it go.
  package func send(
    _ push: WebPushRequest, until deadline: UInt64, permit: PushPermit? = nil, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    let endpoint = push.subscription.endpoint
    let now = Reactor.now
    guard permit?.isValid != false else { return .withdrawn }
    guard deadline > now else {
      return DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "answer_late", fault: .connection)
    }
    guard hasRoom(for: endpoint) else {
      return DeliveryAttempt(.retryLater(minimumWait: .seconds(1)), reason: "too_many_in_flight")
    }
    let limit = min(configuration.answerLimit, .nanoseconds(Int64(clamping: deadline - now)))
    inFlight[endpoint.origin, default: 0] += 1
    defer { leave(endpoint.origin) }
    return await exchange(push, within: limit, on: reactor)
  }

  /// Waits until no push is in flight.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    await transfers.drain(within: limit, on: reactor)
  }

  /// Ends the pushes in flight and closes all connections. Closing twice does nothing.
  package func close(on reactor: isolated Reactor) {
    transfers.close(on: reactor)
  }

  private func leave(_ origin: String) {
    guard let count = inFlight[origin] else { return }
    inFlight[origin] = count > 1 ? count - 1 : nil
  }
}

extension WebPushClient {
  private func exchange(
    _ push: WebPushRequest, within limit: Duration, on reactor: isolated Reactor
  ) async -> DeliveryAttempt {
    let subscription = push.subscription
    let origin = subscription.endpoint.origin
    guard let token = try? signer.token(for: origin),
      let body = try? push.content.map({ try WebPushEncryption.encrypt($0, for: subscription.keys) }) ?? []
    else {
      // A checked key signs, and the size was checked when the request was made.
      return DeliveryAttempt(.fixCredentials, reason: "unsigned", fault: .configuration)
    }
    do throws(HTTPTransferError) {
      let response = try await transfers.send(
        request(push, token, body, within: limit), on: reactor)
      return judge(response, of: token, to: subscription)
    } catch {
      return DeliveryAttempt(error)
    }
  }

  private func request(
    _ push: WebPushRequest, _ token: VAPIDToken, _ body: [UInt8], within limit: Duration
  ) -> HTTPTransferRequest {
    let endpoint = push.subscription.endpoint
    var request = HTTPTransferRequest(
      .post, url: endpoint.url, fields: push.fields(authorization: token.authorization), body: body, deadline: limit,
      bodyBytesMax: configuration.answerBytesMax)
    request.isSentOnce = true
    // The operator lists numeric addresses one by one. A listed name may resolve to anything.
    request.reach = HTTPTransferReach(includesPrivateAddresses: endpoint.isNumeric, includesPlainHTTP: false)
    return request
  }

  private func judge(
    _ response: HTTPTransferResponse, of token: VAPIDToken, to subscription: WebPushSubscription
  ) -> DeliveryAttempt {
    let answer = WebPushAnswer(
      status: response.status.code, fields: response.fields, body: response.body,
      now: Int64(Date().timeIntervalSince1970))
    let hasOtherKey = subscription.serverKey.map { $0 != signer.publicKeyText } ?? false
    let attempt = answer.attempt(.init(hasOtherKey: hasOtherKey, mayRenewToken: true))
    guard attempt.disposition == .refreshProviderToken else { return attempt }
    let isNewer = (try? signer.replace(token, for: subscription.endpoint.origin)) ?? false
    return answer.attempt(.init(hasOtherKey: hasOtherKey, mayRenewToken: isNewer))
  }
}

package struct WebPushClientConfiguration: Sendable {
  /// Pushes in flight. 512: with an answer after 200 ms, 2,500 pushes a second.
  package var pushesMax = 512

  /// Pushes in flight to one origin. 128: a quarter of all, so that two services that hang leave half of the places, and little
  /// more than the 100 streams that most servers allow on a connection.
  package var pushesPerOriginMax = 128

  /// The longest wait for an answer. 30 s: push services answer in less than one.
  package var answerLimit = Duration.seconds(30)

  /// The largest answer, in bytes. 64 KiB: real ones have less than 500, and an error page of a proxy may be read too.
  package var answerBytesMax = 64 * 1024

  package var trust = HTTPTransferTrust.system

  package init() {}

  /// Connections to one service. Services without HTTP/2 answer one push at a time on each.
  private static let connectionsPerHostMax = 16
  /// A push goes to the same few hosts as the one before. 30 s: services move their names within a minute.
  private static let addressesLifetime = Duration.seconds(30)
  /// Idle connections. Services are few.
  private static let idleConnectionsMax = 64

  var transfers: HTTPTransferConfiguration {
    var transfers = HTTPTransferConfiguration()
    transfers.transfersMax = pushesMax
    transfers.waitingMax = 0
    transfers.multiplexes = true
    transfers.connectionsPerHostMax = Self.connectionsPerHostMax
    transfers.idleConnectionsMax = Self.idleConnectionsMax
    transfers.addressesLifetime = Self.addressesLifetime
    transfers.trust = trust
    transfers.reach = HTTPTransferReach(includesPrivateAddresses: false, includesPlainHTTP: false)
    return transfers
  }
}

extension DeliveryAttempt {
  /// The end of a push without an answer. One whose fate is unknown may be resent: it replaces the first by its `tag`.
  init(_ error: HTTPTransferError) {
    switch error.code {
    case .forbidden: self.init(.never, reason: "address_not_allowed")
    case .invalidRequest: self.init(.fixRequest, reason: "request_invalid")
    case .tooManyWaiting: self.init(.retryLater(minimumWait: .seconds(1)), reason: "too_many_in_flight")
    case .cancelled, .closed: self.init(.retryLater(minimumWait: .zero), reason: "client_closed")
    case .unresolved: self.init(.retryLater(minimumWait: .zero), reason: "host_unresolved", fault: .connection)
    case .unreachable: self.init(.retryLater(minimumWait: .zero), reason: "host_unreachable", fault: .connection)
    case .untrusted: self.init(.retryLater(minimumWait: .zero), reason: "certificate_untrusted", fault: .connection)
    case .tooLarge, .invalidAnswer:
      self.init(.retryLater(minimumWait: .zero), reason: "answer_unreadable", fault: .service)
    case .timedOut: self.init(.retryLater(minimumWait: .zero), reason: "answer_late", fault: .connection)
    case .handshake, .connectionLost, .failed:
      self.init(.retryLater(minimumWait: .zero), reason: "answer_lost", fault: .connection)
    }
  }
}

/// One push to a browser, before it is encrypted.
package struct WebPushRequest: Sendable {
  /// How soon a battery-powered device is to be woken (RFC 8030 section 5.3).
  package enum Urgency: String, Sendable {
    /// At any time except with little battery.
    case normal
    /// At any time: messages and time-sensitive news.
    case high
  }

  /// The accepted times to live, in seconds. Apple and Windows refuse 0. Four weeks, FCM's longest, is less than what others
  /// silently cut.
  static let timeToLive: ClosedRange<Int64> = 1...2_419_200

  package let subscription: WebPushSubscription
  /// The JSON document of a ``WebPushNotification``; nil for an empty push, which makes the worker fetch.
  package let content: [UInt8]?
  package let urgency: Urgency
  /// How long the push service keeps it for a browser that is offline, in seconds: 1 to 2,419,200.
  package let timeToLiveSeconds: Int64
  /// Replaces an undelivered push with the same topic; nil for none.
  package let topic: WebPushTopic?

  /// Describes a push.
  /// - Parameters:
  ///   - content: at most ``WebPushEncryption/contentBytesMax`` bytes; nil or an empty array for an empty push.
  ///   - timeToLiveSeconds: moved into the accepted range.
  /// - Throws: `payloadTooLarge`.
  package init(
    to subscription: WebPushSubscription, content: [UInt8]?, urgency: Urgency, timeToLiveSeconds: Int64,
    topic: WebPushTopic? = nil
  ) throws(WebPushError) {
    guard content?.count ?? 0 <= WebPushEncryption.contentBytesMax else {
      throw WebPushError(.payloadTooLarge, "more than \(WebPushEncryption.contentBytesMax) bytes")
    }
    self.subscription = subscription
    self.content = content?.isEmpty == false ? content : nil
    self.urgency = urgency
    self.timeToLiveSeconds = min(max(timeToLiveSeconds, Self.timeToLive.lowerBound), Self.timeToLive.upperBound)
    self.topic = topic
  }

  func fields(authorization: String) -> HTTPFields {
    var fields: HTTPFields = [.authorization: authorization]
    fields[.timeToLive] = "\(timeToLiveSeconds)"
    fields[.urgency] = urgency.rawValue
    if let topic { fields[.topic] = topic.text }
    if content != nil {
      fields[.contentEncoding] = "aes128gcm"
      fields[.contentType] = "application/octet-stream"
    }
    return fields
  }
}

/// The name under which a push replaces an undelivered one (RFC 8030 section 5.4).
///
/// FCM delivers pushes with a topic more slowly: 20 at once and then one in three minutes. Use it only where losing the older
/// push is right.
package struct WebPushTopic: Hashable, Sendable {
  /// 32 hexadecimal digits: a form that every service accepts. Apple decodes the text as base64url, so it refuses some lengths.
  package let text: String

  /// The topic of a collapse identifier of any length: half of its SHA-256.
  package init(of collapseIdentifier: String) {
    text = SHA256.hash(Array(collapseIdentifier.utf8)).hexadecimal(bytes: 16)
  }
}

extension HTTPField.Name {
  static let timeToLive = Self("TTL")!
  static let urgency = Self("Urgency")!
  static let topic = Self("Topic")!
}
